package fakelet

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubesim/kubesim/fakelet/runtime"
)

// usageAnnotation on a Pod says what its containers use, as in "cpu=250m,memory=64Mi",
// in place of what the simulation finds.
const usageAnnotation = "kubesim.io/usage"

// api answers the kubelets' server.
type api struct{ f *fakelet }

// Node implements server.Nodes.
func (a api) Node(name string) (*corev1.Node, bool) {
	if _, _, ok := a.f.nodes.place(name); !ok {
		return nil, false
	}
	node, err := a.f.nodes.lister.Get(name)
	return node, err == nil
}

// Pods implements server.Nodes.
func (a api) Pods(node string) []*corev1.Pod { return a.f.indexed(byNode)(node) }

func (a api) find(pod *corev1.Pod, name string) (*corev1.Container, *corev1.ContainerStatus) {
	for _, c := range containersOf(pod) {
		if c.Name == name {
			return c, statusOf(&pod.Status, name)
		}
	}
	return nil, nil
}

// Container implements server.Nodes.
func (a api) Container(ctx context.Context, pod *corev1.Pod, name string) (*runtime.Container, error) {
	c, cs := a.find(pod, name)
	if c == nil || cs == nil || cs.State.Running == nil {
		return nil, fmt.Errorf("unable to upgrade connection: container not found (%q)", name)
	}
	r, err := a.f.runs.of(pod).open(ctx, c, cs)
	if err != nil {
		return nil, err
	}
	return r.container, nil
}

// Log implements server.Nodes.
func (a api) Log(ctx context.Context, pod *corev1.Pod, name string, previous bool) (*runtime.Log, error) {
	c, cs := a.find(pod, name)
	switch {
	case c == nil:
		return nil, fmt.Errorf("container %s is not valid for pod %s", name, pod.Name)
	case previous && (cs == nil || cs.LastTerminationState.Terminated == nil):
		return nil, fmt.Errorf("previous terminated container %q in pod %q not found", name, pod.Name)
	case cs == nil || cs.State.Running == nil && cs.State.Terminated == nil && cs.LastTerminationState.Terminated == nil:
		reason := reasonCreating
		if cs != nil && cs.State.Waiting != nil {
			reason = cs.State.Waiting.Reason
		}
		return nil, fmt.Errorf("container %q in pod %q is waiting to start: %s", name, pod.Name, reasonOrMessage(cs, reason))
	}
	p := a.f.runs.of(pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.current[name]
	switch {
	case previous && p.previous[name] != nil:
		return p.previous[name], nil
	case previous && current != nil && current.container != nil && cs.State.Running == nil:
		return current.container.Log(), nil // it waits for its restart
	case previous:
		return noLog(a.f), nil
	case current != nil && current.container != nil && (cs.State.Running == nil || current.id == cs.ContainerID):
		return current.container.Log(), nil
	case cs.State.Running == nil:
		return noLog(a.f), nil
	}
	r, err := p.openLocked(ctx, c, cs)
	if err != nil {
		return nil, err
	}
	return r.container.Log(), nil
}

// noLog is the log of a container that wrote nothing, or none that is remembered.
func noLog(f *fakelet) *runtime.Log {
	l := runtime.NewLog(f.cfg.Clock)
	l.Close()
	return l
}

func reasonOrMessage(cs *corev1.ContainerStatus, reason string) string {
	switch {
	case reason == "ErrImagePull" || reason == "ImagePullBackOff":
		return "trying and failing to pull image"
	case cs != nil && cs.State.Waiting != nil && reason == "CreateContainerConfigError":
		return reason
	}
	return reason
}

// Connect implements server.Nodes.
func (a api) Connect(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error) {
	conn, err := a.f.runs.connect(ctx, pod, port)
	if err != nil {
		return nil, fmt.Errorf("dial tcp4 127.0.0.1:%s: %w", strconv.Itoa(port), err)
	}
	return conn, nil
}

// Usage implements server.Nodes.
func (a api) Usage(pod *corev1.Pod, name string) (cpuSeconds float64, memory int64) {
	c, cs := a.find(pod, name)
	if c == nil || cs == nil || cs.State.Running == nil {
		return 0, 0
	}
	up := a.f.cfg.Clock.Since(cs.State.Running.StartedAt.Time).Seconds()
	if cpu, bytes, ok := annotatedUsage(pod); ok {
		n := float64(max(1, len(pod.Spec.Containers)))
		return cpu * up / n, int64(float64(bytes) / n)
	}
	const idleCPU = 0.001
	plan := planOf(pod, c)
	memory = plan.IdleMemory()
	if r := (view{a.f.runs, pod}).run(cs); r != nil && r.container != nil {
		cpuSeconds, memory = r.container.Usage()
	}
	return cpuSeconds + idleCPU*up, memory
}

// annotatedUsage reads what the pod's annotation says that it uses.
func annotatedUsage(pod *corev1.Pod) (cpu float64, memory int64, ok bool) {
	for part := range strings.SplitSeq(pod.Annotations[usageAnnotation], ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		q, err := resource.ParseQuantity(value)
		if err != nil {
			continue
		}
		switch name {
		case "cpu":
			cpu, ok = q.AsApproximateFloat64(), true
		case "memory":
			memory, ok = q.Value(), true
		}
	}
	return cpu, memory, ok
}
