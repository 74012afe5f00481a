package fakelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/fakelet/runtime"
	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// terminate ends a pod that is being deleted: each container after its preStop
// hook, by force when the grace period is over; sidecars after the others, in
// reverse order. The status of one that goes with this step is seen by nobody, and
// not written.
func (p *pass) terminate() step {
	tell := p.first("stop")
	deadline := p.now
	if p.pod.DeletionGracePeriodSeconds != nil {
		deadline = p.pod.DeletionTimestamp.Time
		if asked := deadline.Add(-time.Duration(*p.pod.DeletionGracePeriodSeconds) * time.Second); asked.Equal(p.now.Truncate(time.Second)) {
			deadline = deadline.Add(p.now.Sub(asked))
		}
	}
	running := p.stopEach(deadline, tell)
	if running {
		p.decision = "stop containers"
		return p.finish()
	}
	s := p.finish()
	s.remove, s.after = removable(p.pod), 0
	s.decision = "stop containers and remove the pod"
	if len(p.pod.Finalizers) == 0 {
		s.status = nil
	}
	return s
}

// stopEach tells containers to stop, and returns whether one still runs.
func (p *pass) stopEach(deadline time.Time, tell bool) (running bool) {
	stop := func(c *corev1.Container, cs *corev1.ContainerStatus, field string) {
		if cs.State.Running == nil {
			return
		}
		if tell {
			p.tell(corev1.EventTypeNormal, "Killing", "Stopping container "+c.Name, field)
		}
		result, left := p.ended(c, cs, deadline)
		if left > 0 {
			running = true
			p.lookAgain(left)
			return
		}
		p.exit(c, cs, ending{code: result.Code, reason: result.Reason, message: result.Message})
	}
	p.each(p.pod.Spec.Containers, p.status.ContainerStatuses, "spec.containers", stop)
	for i := len(p.pod.Spec.InitContainers) - 1; i >= 0 && !running; i-- {
		p.each(p.pod.Spec.InitContainers[i:i+1], p.status.InitContainerStatuses, "spec.initContainers", stop)
	}
	for i := range p.status.EphemeralContainerStatuses {
		if cs := &p.status.EphemeralContainerStatuses[i]; cs.State.Running != nil && !running {
			p.exit(&corev1.Container{Name: cs.Name}, cs, ending{code: exitKilled})
		}
	}
	return running
}

// ended stops a container that has until some time to do so. While it takes its
// time, left is what it has left of that.
func (p *pass) ended(c *corev1.Container, cs *corev1.ContainerStatus, deadline time.Time) (result runtime.Result, left time.Duration) {
	left = deadline.Sub(p.now)
	force := func() (runtime.Result, time.Duration) {
		if p.world != nil {
			p.world.stop(c, cs, process.SIGKILL)
		}
		return runtime.Result{Code: exitKilled, Reason: "Error"}, 0
	}
	switch {
	case left <= 0 && p.pod.DeletionGracePeriodSeconds != nil && *p.pod.DeletionGracePeriodSeconds > 0:
		return force()
	case fails(p.pod, c, failHang):
		return result, left
	case p.world == nil:
		return runtime.Result{Code: exitTerminated}, 0
	}
	if c.Lifecycle != nil && c.Lifecycle.PreStop != nil && !p.preStop(c, cs) {
		if left <= 0 {
			return force()
		}
		return result, left
	}
	if r := p.world.stop(c, cs, signalOf(c)); r != nil {
		return *r, 0
	}
	if left <= 0 {
		return force()
	}
	return result, left
}

// preStop carries out the hook of a container that is to stop. It is false until
// that is done.
func (p *pass) preStop(c *corev1.Container, cs *corev1.ContainerStatus) bool {
	key := "preStop/" + cs.ContainerID
	if _, done := p.memory[key]; done {
		return true
	}
	o := p.world.hook(c, cs, "preStop", c.Lifecycle.PreStop)
	if o == nil {
		return false
	}
	if !o.ok {
		p.tell(corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed", "spec.containers{"+c.Name+"}")
	}
	p.remember(key, attempt{at: p.now})
	return true
}

// signalOf is the signal that asks a container to stop.
func signalOf(c *corev1.Container) process.Signal {
	if c.Lifecycle != nil && c.Lifecycle.StopSignal != nil {
		if s, err := process.ParseSignal(string(*c.Lifecycle.StopSignal)); err == nil {
			return s
		}
	}
	return process.SIGTERM
}

// removable is false for a pod that was removed already and is held by finalizers.
func removable(pod *corev1.Pod) bool {
	return pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds > 0
}
