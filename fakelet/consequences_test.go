package fakelet_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// post creates a pod of one container on node-1, changed by edit.
func (c *cluster) post(name string, edit func(p *corev1.Pod, main *corev1.Container)) {
	c.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "busybox:1.37"}}},
	}
	edit(p, &p.Spec.Containers[0])
	if _, err := c.client.CoreV1().Pods("default").Create(c.Context(), p, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// reasons are those of a pod's events.
func (c *cluster) reasons(name string) string {
	c.Helper()
	events, err := c.client.CoreV1().Events("default").List(c.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
	if err != nil {
		c.Fatal(err)
	}
	var out []string
	for _, e := range events.Items {
		out = append(out, e.Reason+": "+e.Message)
	}
	return strings.Join(out, "\n")
}

func sh(script string) []string { return []string{"sh", "-c", script} }

// stateOf is a container's state in a word, with the code of its last end and how
// often it was restarted.
func stateOf(cs corev1.ContainerStatus) string {
	last := ""
	if t := cs.LastTerminationState.Terminated; t != nil {
		last = fmt.Sprintf(" after %s(%d)", t.Reason, t.ExitCode)
	}
	switch {
	case cs.State.Waiting != nil:
		return cs.State.Waiting.Reason + last
	case cs.State.Terminated != nil:
		return fmt.Sprintf("%s(%d)", cs.State.Terminated.Reason, cs.State.Terminated.ExitCode)
	}
	return fmt.Sprintf("running, ready %t%s", cs.Ready, last)
}

// What a pod's manifest says has the consequences that it has on a real node.
func TestConsequences(t *testing.T) {
	exec := func(command ...string) corev1.ProbeHandler {
		return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}
	}
	tests := []struct {
		name  string
		edit  func(p *corev1.Pod, c *corev1.Container)
		after time.Duration
		want  string // of the container
		event string // that is among those told
	}{
		{"a script that fails backs off", func(_ *corev1.Pod, c *corev1.Container) { c.Command = sh("echo oops; exit 3") }, 5 * time.Second, "CrashLoopBackOff after Error(3)", "BackOff: Back-off restarting failed container c"},
		{"an image that is not there", func(_ *corev1.Pod, c *corev1.Container) { c.Image = "nginx:1.161" }, 5 * time.Second, "ImagePullBackOff", `Failed: Failed to pull image "nginx:1.161"`},
		{"a failure that is asked for", func(p *corev1.Pod, _ *corev1.Container) {
			p.Annotations = map[string]string{"kubesim.io/fail": "image-pull"}
		}, time.Second / 2, "ErrImagePull", "Failed: Error: ErrImagePull"},
		{"an invalid image name", func(_ *corev1.Pod, c *corev1.Container) { c.Image = "NGINX" }, 5 * time.Second, "InvalidImageName", "InspectFailed"},
		{"a missing ConfigMap", func(_ *corev1.Pod, c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}}}}
		}, 5 * time.Second, "CreateContainerConfigError", `Failed: Error: configmap "none" not found`},
		{"a missing volume", func(p *corev1.Pod, _ *corev1.Container) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}}}
		}, 5 * time.Second, "ContainerCreating", `FailedMount: MountVolume.SetUp failed for volume "v" : secret "none" not found`},
		{"a command that is not there", func(_ *corev1.Pod, c *corev1.Container) { c.Command = []string{"nosuch"} }, 5 * time.Second, "CrashLoopBackOff after StartError(128)", `exec: "nosuch": executable file not found in $PATH`},
		{"too much memory", func(_ *corev1.Pod, c *corev1.Container) {
			c.Command = sh("stress --vm 1 --vm-bytes 250M")
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Mi")}
		}, 5 * time.Second, "CrashLoopBackOff after OOMKilled(137)", "BackOff"},
		{"a readiness probe that fails", func(_ *corev1.Pod, c *corev1.Container) {
			c.Command, c.ReadinessProbe = sh("sleep 3600"), &corev1.Probe{ProbeHandler: exec("cat", "/tmp/healthy")}
		}, 5 * time.Second, "running, ready false", "Unhealthy: Readiness probe failed: cat: can't open '/tmp/healthy': No such file or directory"},
		{"a readiness probe that comes good", func(_ *corev1.Pod, c *corev1.Container) {
			c.Command = sh("sleep 8; touch /tmp/healthy; sleep 3600")
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: exec("cat", "/tmp/healthy"), PeriodSeconds: 3}
		}, 15 * time.Second, "running, ready true", "Unhealthy"},
		{"a liveness probe that fails", func(p *corev1.Pod, c *corev1.Container) {
			p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(1))
			c.Command = sh("touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600")
			c.LivenessProbe = &corev1.Probe{ProbeHandler: exec("cat", "/tmp/healthy"), InitialDelaySeconds: 5, PeriodSeconds: 5}
		}, time.Minute, "running, ready true after Error(143)", "Killing: Container c failed liveness probe, will be restarted"},
		{"a port that nobody listens on", func(_ *corev1.Pod, c *corev1.Container) {
			c.Image = "nginx:1.27"
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}}
		}, 5 * time.Second, "running, ready false", "connect: connection refused"},
		{"a path that is there", func(_ *corev1.Pod, c *corev1.Container) {
			c.Image = "nginx:1.27"
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}}
		}, time.Second, "running, ready true", "Started"},
		{"a path that is not", func(_ *corev1.Pod, c *corev1.Container) {
			c.Image = "nginx:1.27"
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(80)}}}
		}, 5 * time.Second, "running, ready false", "Readiness probe failed: HTTP probe failed with statuscode: 404"},
		{"a startup probe holds the others back", func(_ *corev1.Pod, c *corev1.Container) {
			c.Command = sh("sleep 3600")
			c.StartupProbe = &corev1.Probe{ProbeHandler: exec("false"), FailureThreshold: 30}
			c.LivenessProbe = &corev1.Probe{ProbeHandler: exec("false"), FailureThreshold: 1}
		}, 30 * time.Second, "running, ready false", "Startup probe failed"},
		{"a hook after the start that fails", func(_ *corev1.Pod, c *corev1.Container) {
			c.Command = sh("sleep 3600")
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}}}
		}, 5 * time.Second, "CrashLoopBackOff after Error(137)", "FailedPostStartHook"},
		{"too large for the node", func(_ *corev1.Pod, c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5")}
		}, time.Second, "", "OutOfcpu: Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000"},
		{"on the wrong node", func(p *corev1.Pod, _ *corev1.Container) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }, time.Second, "", "NodeAffinity: Predicate NodeAffinity failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inCluster(t, 1, func(c *cluster) {
				c.post("p", tt.edit)
				time.Sleep(tt.after)
				got := ""
				if statuses := c.pod("p").Status.ContainerStatuses; len(statuses) > 0 {
					got = stateOf(statuses[0])
				}
				if got != tt.want {
					c.Errorf("the container is %q, want %q", got, tt.want)
				}
				if told := c.reasons("p"); !strings.Contains(told, tt.event) {
					c.Errorf("no event has %q:\n%s", tt.event, told)
				}
			})
		})
	}
}

func TestGracePeriods(t *testing.T) {
	tests := []struct {
		name, script string
		preStop      *corev1.LifecycleHandler
		takes        time.Duration
	}{
		{"without a handler", "sleep 3600", nil, 0},
		{"a handler that ends it", "trap 'exit 0' TERM; while true; do sleep 1; done", nil, time.Second},
		{"a handler that goes on", "trap '' TERM; while true; do sleep 1; done", nil, 10 * time.Second},
		{"a hook that sleeps", "sleep 3600", &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 4}}, 4 * time.Second},
		{"a hook that runs", "sleep 3600", &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "3"}}}, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inCluster(t, 1, func(c *cluster) {
				c.post("p", func(p *corev1.Pod, main *corev1.Container) {
					p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(10))
					main.Command = sh(tt.script)
					if tt.preStop != nil {
						main.Lifecycle = &corev1.Lifecycle{PreStop: tt.preStop}
					}
				})
				time.Sleep(5 * time.Second)
				start := time.Now()
				c.delete("p")
				for took := time.Duration(0); ; took += 100 * time.Millisecond {
					if _, err := c.client.CoreV1().Pods("default").Get(c.Context(), "p", metav1.GetOptions{}); err != nil {
						break
					}
					if took > time.Minute {
						c.Fatal("it does not go")
					}
					time.Sleep(100 * time.Millisecond)
				}
				if took := time.Since(start); took < tt.takes-time.Second || took > tt.takes+time.Second {
					c.Errorf("it took %s, want about %s", took, tt.takes)
				}
			})
		})
	}
}

// A node whose kubelet was silent comes back, and its pods are Ready again.
func TestNodeReturns(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		c.create("web", "node-1")
		c.settle()
		annotate := func(value string) {
			node := c.node("node-1")
			node.Annotations["kubesim.io/kubelet"] = value
			if _, err := c.client.CoreV1().Nodes().Update(c.Context(), node, metav1.UpdateOptions{}); err != nil {
				c.Fatal(err)
			}
		}
		annotate("stopped")
		c.settle()
		before := c.node("node-1").ResourceVersion
		pod := c.pod("web")
		for i := range pod.Status.Conditions { // as the node life cycle controller does
			if pod.Status.Conditions[i].Type == corev1.PodReady {
				pod.Status.Conditions[i].Status = corev1.ConditionFalse
			}
		}
		if _, err := c.client.CoreV1().Pods("default").UpdateStatus(c.Context(), pod, metav1.UpdateOptions{}); err != nil {
			c.Fatal(err)
		}
		c.create("late", "node-1")
		time.Sleep(10 * time.Minute)
		if c.node("node-1").ResourceVersion != before || c.pod("late").Status.StartTime != nil {
			c.Error("something is heard of the stopped kubelet")
		}
		annotate("")
		c.settle()
		for _, name := range []string{"web", "late"} {
			if !ready(c.pod(name).Status.Conditions) {
				c.Errorf("%s is not Ready: %+v", name, c.pod(name).Status.Conditions)
			}
		}
	})
}

func TestEvictionUnderPressure(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		c.create("first", "node-1")
		c.post("reserved", func(_ *corev1.Pod, main *corev1.Container) {
			main.Image = "nginx:1.27"
			main.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		})
		c.settle()
		node := c.node("node-1")
		node.Annotations["kubesim.io/pressure"] = "memory"
		if _, err := c.client.CoreV1().Nodes().Update(c.Context(), node, metav1.UpdateOptions{}); err != nil {
			c.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if s := c.pod("first").Status; s.Phase != corev1.PodFailed || s.Reason != "Evicted" {
			c.Errorf("the pod without requests is %s, %s", s.Phase, s.Reason)
		}
		if s := c.pod("reserved").Status; s.Phase != corev1.PodRunning {
			c.Errorf("the one with requests is %s", s.Phase)
		}
	})
}

// Containers of a pod, its Services and its ConfigMaps are seen from inside.
func TestInsideAPod(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		if _, err := c.client.CoreV1().ConfigMaps("default").Create(c.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "conf"}, Data: map[string]string{"greeting": "hello"},
		}, metav1.CreateOptions{}); err != nil {
			c.Fatal(err)
		}
		c.create("web", "node-1")
		c.settle()
		c.post("client", func(p *corev1.Pod, main *corev1.Container) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
			p.Spec.Volumes = []corev1.Volume{
				{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}},
				{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			}
			shared := corev1.VolumeMount{Name: "shared", MountPath: "/shared"}
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "busybox", Command: sh("sleep 2; echo prepared > /shared/f"), VolumeMounts: []corev1.VolumeMount{shared}}}
			main.VolumeMounts = []corev1.VolumeMount{shared, {Name: "conf", MountPath: "/etc/conf"}}
			main.Env = []corev1.EnvVar{
				{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
				{Name: "LINE", Value: "on $(NODE)"},
			}
			main.Command = sh(fmt.Sprintf("cat /shared/f; cat /etc/conf/greeting; echo; echo $LINE; wget -qO- http://%s/ | grep -c Welcome; hostname; echo end > /dev/termination-log", c.pod("web").Status.PodIP))
		})
		time.Sleep(10 * time.Second)
		s := c.pod("client").Status
		if s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].State.Terminated.Message != "end\n" {
			c.Errorf("client: %+v", s)
		}
		if got, want := c.logs("client"), "prepared\nhello\non node-1\n2\nclient\n"; got != want {
			c.Errorf("log %q, want %q", got, want)
		}
	})
}

// logs asks the kubelet of node-1, as the API server does.
func (c *cluster) logs(pod string) string {
	c.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return c.kubelets.dial() }}
	response, err := transport.RoundTrip(must(http.NewRequestWithContext(c.Context(), http.MethodGet, "http://node-1:10250/containerLogs/default/"+pod+"/c", nil)))
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, response.Body); err != nil {
		c.Fatal(err)
	}
	return b.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pipes is a listener in memory.
type pipes struct{ conns chan net.Conn }

func (p pipes) dial() (net.Conn, error) {
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { close(p.conns); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }
