package fakelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// facts is what a decision depends on apart from the pod itself.
type facts struct {
	hostIP, podIP string
	delay         time.Duration // how long containers take to be created
	// since is when this process wrote the pod last, zero if it did not. Times in
	// a status have whole seconds; where one of them is that instant, since says
	// it exactly, so that "sleep 1" takes a second.
	since time.Time
}

// step is what a kubelet does next to a pod.
type step struct {
	status   *corev1.PodStatus // to write; nil when it stands as it is
	remove   bool              // delete the pod, its containers have stopped
	after    time.Duration     // look again after this time, 0 for not before the pod changes
	decision string            // in words, for the trace
	events   []event           // told once the writes have succeeded
}

// event is what a kubelet tells about a pod, or about one of its containers.
type event struct {
	kind, reason, message string
	field                 string // such as spec.containers{web}
}

// decide returns the next step of a pod's life. It is a pure function: two calls
// with the same arguments agree, and the pod is not changed.
func decide(pod *corev1.Pod, f facts, now time.Time) step {
	switch {
	case ended(pod.Status.Phase) && pod.DeletionTimestamp == nil:
		return step{decision: "containers have ended, nothing to do"}
	case ended(pod.Status.Phase):
		return step{remove: removable(pod), decision: "containers have ended: remove the pod"}
	case pod.DeletionTimestamp != nil:
		return terminate(pod, now)
	}
	p := newPass(pod, f, now)
	p.run()
	return p.finish()
}

// run starts, ends and restarts containers as far as it is time.
func (p *pass) run() {
	if p.status.StartTime == nil {
		p.accept()
	}
	if p.pastDeadline() {
		return
	}
	if p.creating() {
		return
	}
	initialized := p.initContainers()
	for i := range p.pod.Spec.Containers {
		c := &p.pod.Spec.Containers[i]
		cs := p.containerStatus(c, &p.status.ContainerStatuses, i)
		if !initialized {
			p.wait(cs, reasonInitializing, "")
			continue
		}
		p.container(c, cs, "spec.containers{"+c.Name+"}")
	}
	if p.allEnded() {
		p.stopSidecars()
	}
}

// accept takes over a pod that was bound to the node.
func (p *pass) accept() {
	p.status.StartTime = &p.at
	p.status.HostIP, p.status.HostIPs = p.hostIP, []corev1.HostIP{{IP: p.hostIP}}
	ip := p.podIP
	if p.pod.Spec.HostNetwork {
		ip = p.hostIP
	}
	p.status.PodIP, p.status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	p.changed = true
}

// pastDeadline fails a pod that has been active for too long.
func (p *pass) pastDeadline() bool {
	seconds := p.pod.Spec.ActiveDeadlineSeconds
	if seconds == nil {
		return false
	}
	const message = "Pod was active on the node longer than the specified deadline"
	if left := p.left(*p.status.StartTime, time.Duration(*seconds)*time.Second); left > 0 {
		p.lookAgain(left)
		return false
	}
	p.stopAll(exitKilled)
	p.status.Phase, p.status.Reason, p.status.Message = corev1.PodFailed, "DeadlineExceeded", message
	p.tell(corev1.EventTypeNormal, "DeadlineExceeded", message, "")
	p.decision = "active for longer than its deadline"
	p.changed = true
	return true
}

// creating is true while the containers of a new pod are being created.
func (p *pass) creating() bool {
	if p.delay == 0 || p.anyStarted() {
		return false
	}
	left := p.delay
	if !p.changed {
		left = p.left(*p.status.StartTime, p.delay)
	}
	if left <= 0 {
		return false
	}
	for i := range p.pod.Spec.InitContainers {
		c := &p.pod.Spec.InitContainers[i]
		p.wait(p.containerStatus(c, &p.status.InitContainerStatuses, i), reasonInitializing, "")
	}
	reason := reasonCreating
	if len(p.pod.Spec.InitContainers) > 0 {
		reason = reasonInitializing
	}
	for i := range p.pod.Spec.Containers {
		p.wait(p.containerStatus(&p.pod.Spec.Containers[i], &p.status.ContainerStatuses, i), reason, "")
	}
	p.decision = "create containers"
	p.lookAgain(left)
	return true
}

// terminate ends a pod that is being deleted. Simulated containers stop at once.
// The status of one that goes with this step is seen by nobody, and not written.
func terminate(pod *corev1.Pod, now time.Time) step {
	p := newPass(pod, facts{}, now)
	p.stopAll(exitTerminated)
	s := p.finish()
	s.remove, s.after = removable(pod), 0
	s.decision = "stop containers and remove the pod"
	if len(pod.Finalizers) == 0 {
		s.status = nil
	}
	return s
}

// removable is false for a pod that was removed already and is held by finalizers.
func removable(pod *corev1.Pod) bool {
	return pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds > 0
}

// finish brings phase and conditions in line with the containers, if something changed.
func (p *pass) finish() step {
	s := step{after: p.after, decision: p.decision, events: p.events}
	if p.pod.Generation != p.status.ObservedGeneration {
		p.changed = true
	}
	if p.changed || len(p.pod.Spec.ReadinessGates) > 0 {
		if !ended(p.status.Phase) {
			p.status.Phase = phaseOf(p.pod, p.status)
		}
		p.status.ObservedGeneration = p.pod.Generation
		setConditions(p.pod, p.status, p.at)
	}
	if equality.Semantic.DeepEqual(p.status, &p.pod.Status) {
		return s
	}
	s.status = p.status
	if ended(p.status.Phase) {
		s.after = 0
	}
	s.decision = decisionOf(p)
	return s
}

func ended(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// decisionOf says what a pass did to the pod, in words.
func decisionOf(p *pass) string {
	words := p.decision
	switch {
	case words == "":
		words = "update the status"
	case p.status.Phase != p.pod.Status.Phase:
		words += ": " + string(p.status.Phase)
	default:
		return words
	}
	if isTrue(p.status, corev1.PodReady) && p.status.Phase != p.pod.Status.Phase {
		words += " and Ready"
	}
	return words
}
