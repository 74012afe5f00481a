package fakelet

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/stage"
)

// lifeCycle is what users say of the lives of pods and nodes. An object belongs to
// it while a Stage matches or waits, and after one was carried out.
type lifeCycle struct {
	stages  stage.Stages
	clock   clock.Clock
	started time.Time

	mu    sync.Mutex
	known map[types.UID]staging
}

// staging is what is known of an object that Stages play.
type staging struct {
	waits *stage.Stage // nil for none
	due   time.Time
}

// staged is one object for the lifeCycle.
type staged[T metav1.Object] struct {
	kind      string
	functions stage.Functions
	mine      func(T) bool // played by Stages before, as far as it shows
	patch     func(ctx context.Context, obj T, kind types.PatchType, body []byte, subresources ...string) (T, error)
	remove    func(ctx context.Context, obj T) error
	tell      func(obj T, e *stage.Event)
}

// play carries out the Stage that is due for an object. own is false when none is
// for it, so that it goes the built-in way; after is how long one waits, if any.
func play[T metav1.Object](ctx context.Context, l *lifeCycle, obj T, s staged[T]) (after time.Duration, own bool, err error) {
	if !l.stages.For(s.kind) {
		return 0, false, nil
	}
	for {
		o, err := stage.NewObject(s.kind, obj)
		if err != nil {
			return 0, false, err
		}
		next, after := l.next(ctx, o)
		if next == nil {
			l.mu.Lock()
			_, known := l.known[obj.GetUID()]
			l.mu.Unlock()
			return 0, (known || s.mine(obj)) && obj.GetDeletionTimestamp() == nil, nil
		}
		if after > 0 {
			return after, true, nil
		}
		written, err := carryOut(ctx, next, o, obj, s)
		if err != nil {
			return 0, true, ignoreGone(err)
		}
		l.mu.Lock()
		l.known[obj.GetUID()] = staging{}
		l.mu.Unlock()
		if !next.Immediate || next.Next.Delete || written.GetResourceVersion() == obj.GetResourceVersion() {
			return 0, true, nil // the watch brings it back
		}
		obj = written
	}
}

// next is the Stage that an object comes to, and how long that has to wait.
func (l *lifeCycle) next(ctx context.Context, o stage.Object) (*stage.Stage, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, uid := l.clock.Now(), o.Meta.GetUID()
	k, known := l.known[uid]
	if k.waits == nil || !k.waits.Matches(ctx, o) {
		k.waits = l.stages.Choose(ctx, o, rand.Int64N)
		if k.waits != nil {
			k.due = now.Add(k.waits.Delay(ctx, o, now, rand.Int64N))
		}
		if k.waits != nil || known {
			l.known[uid] = k
		}
	}
	return k.waits, k.due.Sub(now)
}

func (l *lifeCycle) forget(uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, uid)
}

// carryOut does what a Stage says, on condition that the object is as it was seen.
func carryOut[T metav1.Object](ctx context.Context, next *stage.Stage, o stage.Object, obj T, s staged[T]) (written T, err error) {
	written = obj
	if f := next.Next.Finalizers; f != nil {
		body, err := patchBody(written, map[string]any{"finalizers": f.Apply(obj.GetFinalizers())}, nil)
		if err != nil {
			return written, err
		}
		if written, err = s.patch(ctx, written, types.MergePatchType, body); err != nil {
			return written, err
		}
	}
	if next.Next.Delete {
		if err := s.remove(ctx, written); err != nil {
			return written, err
		}
	} else if next.Next.StatusTemplate != "" {
		status, err := next.Status(o, s.functions)
		if err != nil {
			return written, err
		}
		if ip, found := status["podIP"]; found && status["podIPs"] == nil {
			status["podIPs"] = []any{map[string]any{"ip": ip}}
		}
		body, err := patchBody(written, map[string]any{}, status)
		if err != nil {
			return written, err
		}
		if written, err = s.patch(ctx, written, types.StrategicMergePatchType, body, "status"); err != nil {
			return written, err
		}
	}
	if next.Next.Event != nil {
		s.tell(obj, next.Next.Event)
	}
	return written, nil
}

func patchBody(obj metav1.Object, metadata, status map[string]any) ([]byte, error) {
	metadata["resourceVersion"], metadata["uid"] = obj.GetResourceVersion(), obj.GetUID()
	patch := map[string]any{"metadata": metadata}
	if status != nil {
		patch["status"] = status
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("patch by a stage: %w", err)
	}
	return body, nil
}

// functions are those that depend on no object.
func (l *lifeCycle) functions(nodes *nodes) stage.Functions {
	return stage.Functions{
		Now: l.clock.Now().UTC().Format(time.RFC3339Nano), StartTime: l.started.UTC().Format(time.RFC3339Nano),
		Version: kubeletVersion, NodePort: kubeletPort,
		NodeIPOf: func(name string) (string, error) {
			ip, _, ok := nodes.place(name)
			if !ok {
				return "", fmt.Errorf("node %s takes no pods", name)
			}
			return ip, nil
		},
	}
}

// playStages has a pod go the way that users' Stages say.
func (p *pods) playStages(ctx context.Context, pod *corev1.Pod) (time.Duration, bool, error) {
	hostIP, network, ok := p.nodes.place(pod.Spec.NodeName)
	if !ok {
		return 0, false, nil
	}
	f := p.life.functions(p.nodes)
	f.NodeName, f.NodeIP = pod.Spec.NodeName, hostIP
	f.PodIPOf = func(node string, hostNetwork bool, uid string) (string, error) {
		if hostNetwork {
			return f.NodeIPOf(node)
		}
		addr, err := p.ips.take(types.UID(uid), network)
		return addr.String(), err
	}
	return play(ctx, p.life, pod, staged[*corev1.Pod]{
		kind: "Pod", functions: f,
		mine: func(pod *corev1.Pod) bool {
			for _, c := range pod.Status.ContainerStatuses {
				if c.State.Running != nil && c.ContainerID == "" {
					return true // the built-in life cycle gives them one
				}
			}
			return false
		},
		patch: func(ctx context.Context, pod *corev1.Pod, kind types.PatchType, body []byte, subresources ...string) (*corev1.Pod, error) {
			at := p.clock.Now()
			updated, err := p.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, kind, body, metav1.PatchOptions{}, subresources...)
			if err == nil {
				p.note(pod, write{revision: revisionOf(updated), at: at})
			}
			return updated, err
		},
		remove: p.remove,
		tell: func(pod *corev1.Pod, e *stage.Event) {
			p.recorder.pod(pod, event{kind: e.Type, reason: e.Reason, message: e.Message})
		},
	})
}

// playStages has a node go the way that users' Stages say.
func (n *nodes) playStages(ctx context.Context, node *corev1.Node, p *playedNode) (time.Duration, bool, error) {
	f := n.life.functions(n)
	f.NodeName, f.NodeIP = node.Name, p.hostIP
	f.NodeConditions = conditionsAsData()
	return play(ctx, n.life, node, staged[*corev1.Node]{
		kind: "Node", functions: f,
		mine: func(*corev1.Node) bool { return false },
		patch: func(ctx context.Context, node *corev1.Node, kind types.PatchType, body []byte, subresources ...string) (*corev1.Node, error) {
			return n.client.CoreV1().Nodes().Patch(ctx, node.Name, kind, body, metav1.PatchOptions{}, subresources...)
		},
		remove: func(ctx context.Context, node *corev1.Node) error {
			err := n.client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &node.UID}})
			if apierrors.IsConflict(err) {
				return nil // another has its name by now
			}
			return err
		},
		tell: func(node *corev1.Node, e *stage.Event) { n.recorder.node(node, e.Type, e.Reason, e.Message) },
	})
}

// conditionsAsData are a healthy kubelet's, for templates.
func conditionsAsData() []any {
	var data []any
	for _, c := range nodeConditions(nil, nil, metav1.Time{}) {
		data = append(data, map[string]any{"type": string(c.Type), "status": string(c.Status), "reason": c.Reason, "message": c.Message})
	}
	return data
}
