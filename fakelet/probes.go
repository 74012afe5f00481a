package fakelet

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// verdict is what a series of probes says.
type verdict int

const (
	undecided verdict = iota
	healthy
	unhealthy
)

// probes looks after a running container by its probes: it sets whether it has
// started and is ready, and returns why it has to be killed, "" if it has not.
func (p *pass) probes(c *corev1.Container, cs *corev1.ContainerStatus, field string) (kill string) {
	if c.StartupProbe != nil && (cs.Started == nil || !*cs.Started) {
		switch p.check(c, cs, field, "Startup", c.StartupProbe) {
		case healthy:
			p.setStarted(cs, true)
		case unhealthy:
			return fmt.Sprintf("Container %s failed startup probe, will be restarted", c.Name)
		default:
			return ""
		}
	}
	p.setStarted(cs, true)
	if c.LivenessProbe != nil || fails(p.pod, c, failLiveness) {
		probe := c.LivenessProbe
		if probe == nil {
			probe = &corev1.Probe{}
		}
		if p.check(c, cs, field, "Liveness", probe) == unhealthy {
			return fmt.Sprintf("Container %s failed liveness probe, will be restarted", c.Name)
		}
	}
	switch {
	case fails(p.pod, c, failReadiness):
		p.setReady(cs, false)
	case c.ReadinessProbe == nil:
		p.setReady(cs, true)
	default:
		switch p.check(c, cs, field, "Readiness", c.ReadinessProbe) {
		case healthy:
			p.setReady(cs, true)
		case unhealthy:
			p.setReady(cs, false)
		}
	}
	return ""
}

func (p *pass) setStarted(cs *corev1.ContainerStatus, started bool) {
	if cs.Started == nil || *cs.Started != started {
		cs.Started, p.changed = &started, true
	}
}

func (p *pass) setReady(cs *corev1.ContainerStatus, ready bool) {
	if cs.Ready != ready {
		cs.Ready, p.changed = ready, true
	}
}

// check carries out a probe when it is due, and says what it comes to. One that
// goes well and will go on so needs no memory and no further look.
func (p *pass) check(c *corev1.Container, cs *corev1.ContainerStatus, field, kind string, probe *corev1.Probe) verdict {
	period := time.Duration(cmp.Or(probe.PeriodSeconds, 10)) * time.Second
	key := kind + "/" + cs.ContainerID
	a, known := p.memory[key]
	due := a.next
	if !known {
		due = p.now.Add(p.left(cs.State.Running.StartedAt, time.Duration(probe.InitialDelaySeconds)*time.Second))
	}
	if p.now.Before(due) {
		p.lookAgain(due.Sub(p.now))
		return undecided
	}
	o := p.outcome(c, cs, kind, probe)
	if o == nil {
		return undecided
	}
	successes, failures := int(cmp.Or(probe.SuccessThreshold, 1)), int(cmp.Or(probe.FailureThreshold, 3))
	if o.ok && o.steady && (successes == 1 || a.succeeded+1 >= successes) {
		p.forget(key)
		return healthy
	}
	a.next = p.now.Add(period)
	if o.ok {
		a.succeeded, a.failed = a.succeeded+1, 0
	} else {
		a.succeeded, a.failed = 0, a.failed+1
		p.tell(corev1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe failed: %s", kind, o.message), field)
	}
	p.remember(key, a)
	p.lookAgain(period)
	switch {
	case a.succeeded >= successes:
		return healthy
	case a.failed >= failures:
		return unhealthy
	}
	return undecided
}

// outcome asks the world, or the pod's annotation.
func (p *pass) outcome(c *corev1.Container, cs *corev1.ContainerStatus, kind string, probe *corev1.Probe) *outcome {
	switch {
	case kind == "Liveness" && fails(p.pod, c, failLiveness):
		return &outcome{message: "HTTP probe failed with statuscode: 500"}
	case p.world == nil:
		return &outcome{ok: true, steady: true}
	}
	return p.world.probe(c, cs, kind, probe)
}
