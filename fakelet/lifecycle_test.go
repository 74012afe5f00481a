package fakelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pod returns a bound pod; edit changes it.
func pod(edit func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u", Generation: 1},
		Spec: corev1.PodSpec{
			NodeName: "node-1", RestartPolicy: corev1.RestartPolicyAlways,
			Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	edit(p)
	return p
}

func shell(name, script string) corev1.Container {
	return corev1.Container{Name: name, Image: "busybox:1.37", Command: []string{"sh", "-c", script}}
}

// live takes a pod through its life for a while and returns a line for each step:
// seconds since the start, phase, R for Ready, the containers and the decision.
func live(p *corev1.Pod, f facts, length time.Duration) []string {
	f.hostIP, f.podIP = "172.18.0.2", "10.244.0.2"
	var lines []string
	for now := epoch; now.Sub(epoch) <= length; {
		s := decide(p, f, now)
		if s.status != nil {
			p.Status = *s.status
			f.since = now
			lines = append(lines, line(p, s, now))
			continue // the write wakes the worker again
		}
		if s.remove {
			return append(lines, line(p, s, now)+", removed")
		}
		if s.after == 0 {
			break
		}
		now = now.Add(s.after)
	}
	return lines
}

func line(p *corev1.Pod, s step, now time.Time) string {
	ready := "-"
	if isTrue(&p.Status, corev1.PodReady) {
		ready = "R"
	}
	var containers []string
	for _, cs := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		containers = append(containers, fmt.Sprintf("%s:%s/%d", cs.Name, stateOf(cs), cs.RestartCount))
	}
	return fmt.Sprintf("%.1f %s %s %s: %s", now.Sub(epoch).Seconds(), p.Status.Phase, ready, strings.Join(containers, " "), s.decision)
}

func stateOf(cs corev1.ContainerStatus) string {
	switch {
	case cs.State.Running != nil:
		return "running"
	case cs.State.Terminated != nil:
		return fmt.Sprintf("exit(%d)", cs.State.Terminated.ExitCode)
	case cs.State.Waiting != nil:
		return cs.State.Waiting.Reason
	}
	return "none"
}

func TestLives(t *testing.T) {
	tests := []struct {
		name  string
		pod   *corev1.Pod
		delay time.Duration
		until time.Duration
		want  []string
	}{{
		name: "a server runs on after one write",
		pod:  pod(func(p *corev1.Pod) {}),
		want: []string{"0.0 Running R c:running/0: start containers: Running and Ready"},
	}, {
		name:  "containers take their time to be created",
		pod:   pod(func(p *corev1.Pod) {}),
		delay: 300 * time.Millisecond,
		want: []string{
			"0.0 Pending - c:ContainerCreating/0: create containers",
			"0.3 Running R c:running/0: start containers: Running and Ready",
		},
	}, {
		name: "a job's pod succeeds",
		pod: pod(func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
			p.Spec.Containers = []corev1.Container{shell("c", "sleep 5; exit 0")}
		}),
		until: time.Minute,
		want: []string{
			"0.0 Running R c:running/0: start containers: Running and Ready",
			"5.0 Succeeded - c:exit(0)/0: container c ended with code 0: Succeeded",
		},
	}, {
		name: "one failed container of two fails the pod when both have ended",
		pod: pod(func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
			p.Spec.Containers = []corev1.Container{shell("a", "exit 3"), shell("b", "sleep 2")}
		}),
		until: time.Minute,
		want: []string{
			"0.0 Running R a:running/0 b:running/0: start containers: Running and Ready",
			"0.0 Running - a:exit(3)/0 b:running/0: container a ended with code 3",
			"2.0 Failed - a:exit(3)/0 b:exit(0)/0: container b ended with code 0: Failed",
		},
	}, {
		name: "a failing container restarts at once, then backs off twice as long each time",
		pod: pod(func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			p.Spec.Containers = []corev1.Container{shell("c", "exit 1")}
		}),
		until: 40 * time.Second,
		want: []string{
			"0.0 Running R c:running/0: start containers: Running and Ready",
			"0.0 Running R c:running/1: restart containers",
			"0.0 Running - c:CrashLoopBackOff/1: container c ended with code 1",
			"10.0 Running R c:running/2: restart containers",
			"10.0 Running - c:CrashLoopBackOff/2: container c ended with code 1",
			"30.0 Running R c:running/3: restart containers",
			"30.0 Running - c:CrashLoopBackOff/3: container c ended with code 1",
		},
	}, {
		name: "init containers run one after another, sidecars stay",
		pod: pod(func(p *corev1.Pod) {
			side := corev1.Container{Name: "side", Image: "envoy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
			p.Spec.InitContainers = []corev1.Container{shell("one", "true"), side, shell("two", "sleep 2")}
		}),
		until: time.Minute,
		want: []string{
			"0.0 Pending - one:exit(0)/0 side:running/0 two:running/0 c:PodInitializing/0: start containers",
			"2.0 Running R one:exit(0)/0 side:running/0 two:exit(0)/0 c:running/0: start containers: Running and Ready",
		},
	}, {
		name: "quick init containers cost no write of their own",
		pod: pod(func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{shell("one", "true"), {Name: "two", Image: "migrate"}}
		}),
		want: []string{"0.0 Running R one:exit(0)/0 two:exit(0)/0 c:running/0: start containers: Running and Ready"},
	}, {
		name: "a failed init container fails a pod that is never restarted",
		pod: pod(func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
			p.Spec.InitContainers = []corev1.Container{shell("one", "false"), shell("two", "true")}
		}),
		want: []string{"0.0 Failed - one:exit(1)/0 two:PodInitializing/0 c:PodInitializing/0: container one ended with code 1: Failed"},
	}, {
		name: "a sidecar ends with a job's main container",
		pod: pod(func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
			p.Spec.InitContainers = []corev1.Container{{Name: "side", Image: "envoy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
			p.Spec.Containers = []corev1.Container{shell("c", "sleep 1")}
		}),
		until: time.Minute,
		want: []string{
			"0.0 Running R side:running/0 c:running/0: start containers: Running and Ready",
			"1.0 Succeeded - side:exit(0)/0 c:exit(0)/0: container c ended with code 0: Succeeded",
		},
	}, {
		name:  "the active deadline",
		pod:   pod(func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To[int64](7) }),
		until: time.Minute,
		want: []string{
			"0.0 Running R c:running/0: start containers: Running and Ready",
			"7.0 Failed - c:exit(137)/0: active for longer than its deadline: Failed",
		},
	}, {
		name: "a deleted pod goes without a status that nobody would see",
		pod:  running(func(p *corev1.Pod) { deleteIn(p, 30) }),
		want: []string{"0.0 Running R c:running/0: stop containers and remove the pod, removed"},
	}, {
		name: "a deleted pod that is held gets its last status",
		pod: running(func(p *corev1.Pod) {
			p.Finalizers = []string{"batch.kubernetes.io/job-tracking"}
			deleteIn(p, 0)
		}),
		want: []string{"0.0 Failed - c:exit(143)/0: stop containers and remove the pod"},
	}, {
		name: "a condition that somebody else wrote stays",
		pod: running(func(p *corev1.Pod) {
			for i := range p.Status.Conditions {
				p.Status.Conditions[i].Status = corev1.ConditionFalse
			}
		}),
		want: nil,
	}, {
		name: "a phase that somebody else wrote stays",
		pod:  running(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		want: nil,
	}, {
		name: "a new image restarts the container",
		pod: running(func(p *corev1.Pod) {
			p.Spec.Containers[0].Image = "nginx:1.28"
			p.Generation = 2
		}),
		want: []string{"0.0 Running R c:running/1: restart containers"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := live(tt.pod, facts{delay: tt.delay}, max(tt.until, time.Second))
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
			}
		})
	}
}

// running returns a pod that runs, then changed by edit.
func running(edit func(*corev1.Pod)) *corev1.Pod {
	return pod(func(p *corev1.Pod) {
		live(p, facts{}, 0)
		edit(p)
	})
}

func deleteIn(p *corev1.Pod, grace int64) {
	p.DeletionTimestamp = ptr.To(metav1.NewTime(epoch.Add(time.Duration(grace) * time.Second)))
	p.DeletionGracePeriodSeconds = &grace
}

func TestStatusOfRunningPod(t *testing.T) {
	p := running(func(*corev1.Pod) {})
	p.Status.Conditions = nil
	scheduled := metav1.NewTime(epoch.Add(-time.Second))
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: scheduled},
		{Type: "example.com/other", Status: corev1.ConditionTrue},
	}
	setConditions(p, &p.Status, metav1.NewTime(epoch))
	var types []string
	for _, c := range p.Status.Conditions {
		types = append(types, string(c.Type))
		if c.Type == corev1.PodScheduled && c.LastTransitionTime != scheduled {
			t.Errorf("PodScheduled changed at %s, want the scheduler's %s", c.LastTransitionTime, scheduled)
		}
	}
	want := "example.com/other PodReadyToStartContainers Initialized Ready ContainersReady PodScheduled"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("conditions are %s, want %s", got, want)
	}
	if s := p.Status; s.PodIP != "10.244.0.2" || s.HostIP != "172.18.0.2" || s.StartTime == nil || s.ObservedGeneration != 1 {
		t.Errorf("podIP %s, hostIP %s, startTime %v, observedGeneration %d", s.PodIP, s.HostIP, s.StartTime, s.ObservedGeneration)
	}
}

func TestReadinessGates(t *testing.T) {
	p := running(func(p *corev1.Pod) {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	})
	if got, want := live(p, facts{}, 0), "update the status"; len(got) != 1 || !strings.Contains(got[0], "Running - ") || !strings.HasSuffix(got[0], want) {
		t.Errorf("without the condition: %q", got)
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/gate", Status: corev1.ConditionTrue})
	if got := live(p, facts{}, 0); len(got) != 1 || !strings.Contains(got[0], "Running R ") {
		t.Errorf("with the condition: %q", got)
	}
}

func TestEvents(t *testing.T) {
	p := pod(func(p *corev1.Pod) { p.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent })
	started := decide(p, facts{podIP: "10.244.0.2"}, epoch)
	deleted := running(func(p *corev1.Pod) { deleteIn(p, 30) })
	stopped := decide(deleted, facts{}, epoch)
	var got []string
	for _, e := range slices.Concat(started.events, stopped.events) {
		got = append(got, fmt.Sprintf("%s %s %s: %s", e.kind, e.reason, e.field, e.message))
	}
	want := []string{
		`Normal Pulled spec.containers{c}: Container image "nginx:1.27" already present on machine and can be accessed by the pod`,
		`Normal Created spec.containers{c}: Container created`,
		`Normal Started spec.containers{c}: Container started`,
		`Normal Killing spec.containers{c}: Stopping container c`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s", strings.Join(got, "\n\t"))
	}
}
