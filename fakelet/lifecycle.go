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
	// refused says why the node does not take a pod that is new to it.
	refused *refusal
	// evicted is why the node has to give the pod up, "" if it has not.
	evicted string
	// mount is why a volume can't be mounted, and config, by container, why its
	// environment can't be made.
	mount  error
	config map[string]error
	// world is what runs, nil where plans alone say it.
	world world
	// memory is what earlier steps left.
	memory memory
	// refresh has conditions written that others changed while the node was away.
	refresh bool
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
	memory   memory            // for the next step
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
		return newPass(pod, f, now).terminate()
	}
	p := newPass(pod, f, now)
	if f.refused != nil && p.status.StartTime == nil {
		p.refuse()
		return p.finish()
	}
	p.run()
	return p.finish()
}

// run starts, ends and restarts containers as far as it is time.
func (p *pass) run() {
	if p.status.StartTime == nil {
		p.accept()
	}
	if p.pastDeadline() || p.evict() || p.mounting() || p.creating() {
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
	p.ephemeralContainers()
	if p.allEnded() {
		p.stopSidecars()
	}
}

// ephemeralContainers starts those that were added to the pod. They never restart.
func (p *pass) ephemeralContainers() {
	for i := range p.pod.Spec.EphemeralContainers {
		c := corev1.Container(p.pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		cs := p.containerStatus(&c, &p.status.EphemeralContainerStatuses, i)
		field := "spec.ephemeralContainers{" + c.Name + "}"
		switch {
		case cs.State.Terminated != nil:
		case cs.State.Running == nil:
			p.start(&c, cs, field)
		default:
			if e, exits := p.ending(&c, cs); exits {
				if left := p.left(cs.State.Running.StartedAt, e.after); left > 0 {
					p.lookAgain(left)
				} else {
					p.exit(&c, cs, e)
				}
			}
		}
		p.setReady(cs, false)
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
	p.waitAll()
	p.decision = "create containers"
	p.lookAgain(left)
	return true
}

// waitAll has every container waiting for its creation.
func (p *pass) waitAll() {
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
}

// finish brings phase and conditions in line with the containers, if something changed.
func (p *pass) finish() step {
	s := step{after: p.after, decision: p.decision, events: p.events, memory: p.memory}
	if p.pod.Generation != p.status.ObservedGeneration {
		p.changed = true
	}
	if p.changed || len(p.pod.Spec.ReadinessGates) > 0 {
		if !ended(p.status.Phase) {
			p.status.Phase = phaseOf(p.pod, p.status)
		}
		p.status.ObservedGeneration = p.pod.Generation
		if p.status.StartTime != nil { // a pod that was refused never had any
			setConditions(p.pod, p.status, p.at)
		}
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
