package fakelet

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

const (
	exitTerminated = 143 // 128 + SIGTERM
	exitKilled     = 137 // 128 + SIGKILL

	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
	reasonBackOff      = "CrashLoopBackOff"

	// configRetry is when a container that could not be configured is tried again.
	configRetry = 10 * time.Second
)

// pass is one look at a pod: it works on a copy of the status and collects what
// the step will do.
type pass struct {
	facts
	pod      *corev1.Pod
	status   *corev1.PodStatus
	now      time.Time
	at       metav1.Time // now, as a status holds it
	changed  bool        // a container or the pod itself moved on
	after    time.Duration
	decision string
	events   []event
}

func newPass(pod *corev1.Pod, f facts, now time.Time) *pass {
	return &pass{
		facts: f, pod: pod, status: pod.Status.DeepCopy(), now: now, at: metav1.NewTime(now).Rfc3339Copy(), changed: f.refresh,
	}
}

// lookAgain asks for another look after d, or earlier.
func (p *pass) lookAgain(d time.Duration) {
	if p.after == 0 || d < p.after {
		p.after = d
	}
}

// left is how much of d is left since t, a time of the status.
func (p *pass) left(t metav1.Time, d time.Duration) time.Duration {
	from := t.Time
	if p.since.Truncate(time.Second).Equal(from) {
		from = p.since
	}
	return from.Add(d).Sub(p.now)
}

func (p *pass) tell(kind, reason, message, field string) {
	p.events = append(p.events, event{kind: kind, reason: reason, message: message, field: field})
}

// initContainers runs the init containers one after another. It returns whether
// the main containers may start.
func (p *pass) initContainers() bool {
	for i := range p.pod.Spec.InitContainers {
		c := &p.pod.Spec.InitContainers[i]
		cs := p.containerStatus(c, &p.status.InitContainerStatuses, i)
		field := "spec.initContainers{" + c.Name + "}"
		if isSidecar(c) {
			p.container(c, cs, field)
			if cs.Started == nil || !*cs.Started {
				return p.initWaits(i + 1)
			}
			continue
		}
		if done(cs) {
			continue
		}
		p.container(c, cs, field)
		if cs.State.Running != nil {
			// What takes no time is done at once, in the step that starts it.
			if e, exits := p.ending(c, cs); exits && e.after == 0 {
				p.exit(c, cs, e)
				p.restart(c, cs, field)
			}
		}
		if !done(cs) {
			return p.initWaits(i + 1)
		}
		cs.Ready = true
	}
	return true
}

// initWaits has the init containers from the i-th on wait for their turn.
func (p *pass) initWaits(i int) bool {
	for ; i < len(p.pod.Spec.InitContainers); i++ {
		p.wait(p.containerStatus(&p.pod.Spec.InitContainers[i], &p.status.InitContainerStatuses, i), reasonInitializing, "")
	}
	return false
}

// container moves one container on, if it is time.
func (p *pass) container(c *corev1.Container, cs *corev1.ContainerStatus, field string) {
	switch {
	case cs.State.Running != nil && p.specChanged() && cs.Image != imageName(c.Image):
		p.tell(corev1.EventTypeNormal, "Killing", fmt.Sprintf("Container %s definition changed, will be restarted", c.Name), field)
		p.exit(c, cs, ending{code: exitTerminated})
		p.start(c, cs, field)
	case cs.State.Running != nil:
		p.runOn(c, cs, field)
	case cs.State.Terminated != nil:
		p.restart(c, cs, field)
	case cs.LastTerminationState.Terminated != nil:
		p.restart(c, cs, field)
	default:
		p.start(c, cs, field)
	}
}

// runOn ends a running container once its command is through.
func (p *pass) runOn(c *corev1.Container, cs *corev1.ContainerStatus, field string) {
	if p.specChanged() {
		setResources(c, cs)
	}
	e, exits := p.ending(c, cs)
	if exits {
		if left := p.left(cs.State.Running.StartedAt, e.after); left > 0 {
			p.lookAgain(left)
		} else {
			p.exit(c, cs, e)
			p.restart(c, cs, field)
			return
		}
	}
	if !p.postStart(c, cs, field) {
		return
	}
	if message := p.probes(c, cs, field); message != "" {
		p.killing(c, cs, field, message)
	}
}

// killing ends a container that has to be restarted: after its preStop hook, within
// the pod's grace period.
func (p *pass) killing(c *corev1.Container, cs *corev1.ContainerStatus, field, message string) {
	key := "kill/" + cs.ContainerID
	a, known := p.memory[key]
	if !known {
		a = attempt{next: p.now.Add(graceOf(p.pod))}
		p.remember(key, a)
		p.tell(corev1.EventTypeNormal, "Killing", message, field)
	}
	p.setReady(cs, false)
	result, left := p.ended(c, cs, a.next)
	if left > 0 {
		p.lookAgain(left)
		return
	}
	p.forget(key)
	p.exit(c, cs, ending{code: result.Code, reason: result.Reason, message: result.Message})
	p.restart(c, cs, field)
}

func graceOf(pod *corev1.Pod) time.Duration {
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		return 30 * time.Second
	}
	return time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
}

// postStart carries out the hook of a container that has just started. It is false
// until that is done; a hook that fails kills the container.
func (p *pass) postStart(c *corev1.Container, cs *corev1.ContainerStatus, field string) bool {
	if c.Lifecycle == nil || c.Lifecycle.PostStart == nil || p.world == nil || cs.Started != nil && *cs.Started {
		return true
	}
	key := "postStart/" + cs.ContainerID
	if _, done := p.memory[key]; done {
		return true
	}
	o := p.world.hook(c, cs, "postStart", c.Lifecycle.PostStart)
	switch {
	case o == nil:
		return false
	case !o.ok:
		p.tell(corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed", field)
		p.world.stop(c, cs, process.SIGKILL)
		p.tell(corev1.EventTypeNormal, "Killing", "FailedPostStartHook", field)
		p.exit(c, cs, ending{code: exitKilled})
		p.restart(c, cs, field)
		return false
	}
	p.remember(key, attempt{at: p.now})
	return true
}

// start has a container running, unless it can't be created.
func (p *pass) start(c *corev1.Container, cs *corev1.ContainerStatus, field string) {
	if !p.pull(c, cs, field) || !p.configure(c, cs, field) {
		return
	}
	if cs.ContainerID != "" {
		cs.RestartCount++
	}
	if cs.State.Terminated != nil {
		cs.LastTerminationState = corev1.ContainerState{Terminated: cs.State.Terminated}
	}
	started := false
	cs.Image, cs.ImageID, cs.ContainerID = imageName(c.Image), imageID(c.Image), containerID(p.pod, c, cs.RestartCount)
	cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.at}}
	cs.Ready, cs.Started = false, &started
	setResources(c, cs)
	p.changed = true
	p.decision = "start containers"
	if cs.RestartCount > 0 {
		p.decision = "restart containers"
	}
	p.tell(corev1.EventTypeNormal, "Created", "Container created", field)
	e, exits := p.ending(c, cs)
	switch {
	case exits && e.reason == "StartError":
		p.tell(corev1.EventTypeWarning, "Failed", "Error: "+e.message, field)
		p.exit(c, cs, e)
		p.restart(c, cs, field)
		return
	case exits && e.after > 0:
		p.lookAgain(e.after)
	}
	p.tell(corev1.EventTypeNormal, "Started", "Container started", field)
	if p.postStart(c, cs, field) {
		p.probes(c, cs, field)
	}
}

// configure makes a container's environment. It is false while something that it
// refers to is missing.
func (p *pass) configure(c *corev1.Container, cs *corev1.ContainerStatus, field string) bool {
	err := p.config[c.Name]
	if err == nil {
		return true
	}
	p.wait(cs, "CreateContainerConfigError", err.Error())
	p.tell(corev1.EventTypeWarning, "Failed", "Error: "+err.Error(), field)
	p.lookAgain(configRetry)
	p.decision = "container " + c.Name + " can't be configured"
	return false
}

// mounting is true while a volume of a new pod can't be mounted.
func (p *pass) mounting() bool {
	if p.mount == nil {
		p.forget("mount")
		return false
	}
	a := p.memory["mount"]
	if !p.now.Before(a.next) {
		a = p.failed("mount", 500*time.Millisecond, 122*time.Second)
		p.tell(corev1.EventTypeWarning, "FailedMount", p.mount.Error(), "")
	}
	p.waitAll()
	p.decision = "volumes can't be mounted"
	p.lookAgain(a.next.Sub(p.now))
	return true
}

// exit ends a running container. The state it leaves becomes the last one when
// the container is restarted.
func (p *pass) exit(c *corev1.Container, cs *corev1.ContainerStatus, e ending) {
	reason := e.reason
	switch {
	case reason != "":
	case e.code == 0:
		reason = "Completed"
	default:
		reason = "Error"
	}
	started := false
	cs.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: e.code, Reason: reason, Message: e.message, StartedAt: cs.State.Running.StartedAt, FinishedAt: p.at, ContainerID: cs.ContainerID,
	}}
	cs.Ready, cs.Started = false, &started
	p.changed = true
	p.decision = fmt.Sprintf("container %s ended with code %d", c.Name, e.code)
}

// restart starts a container that has ended, after its back-off, if its policy says so.
func (p *pass) restart(c *corev1.Container, cs *corev1.ContainerStatus, field string) {
	last := cs.State.Terminated
	if last == nil {
		last = cs.LastTerminationState.Terminated
	}
	if cs.State.Terminated != nil && !restarts(p.pod, c, last.ExitCode) {
		return
	}
	pause := backOff(cs.RestartCount, last)
	left := p.left(last.FinishedAt, pause)
	if left <= 0 {
		cs.LastTerminationState = corev1.ContainerState{Terminated: last}
		p.start(c, cs, field)
		return
	}
	p.lookAgain(left)
	if cs.State.Terminated == nil {
		return // it waits already
	}
	cs.LastTerminationState = corev1.ContainerState{Terminated: last}
	name := fmt.Sprintf("%s_%s(%s)", p.pod.Name, p.pod.Namespace, p.pod.UID)
	p.wait(cs, reasonBackOff, fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", pause, c.Name, name))
	p.tell(corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.Name, name), field)
}

// wait has a container waiting. It is false if it waits for that already.
func (p *pass) wait(cs *corev1.ContainerStatus, reason, message string) bool {
	if w := cs.State.Waiting; w != nil && w.Reason == reason && w.Message == message {
		return false
	}
	started := false
	cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	cs.Ready, cs.Started = false, &started
	p.changed = true
	return true
}

// stopAll ends every running container with the code.
func (p *pass) stopAll(code int32) {
	p.stop(p.pod.Spec.Containers, p.status.ContainerStatuses, code, "spec.containers")
	p.stop(p.pod.Spec.InitContainers, p.status.InitContainerStatuses, code, "spec.initContainers")
}

// each calls do for every container of a list that has a status.
func (p *pass) each(containers []corev1.Container, statuses []corev1.ContainerStatus, field string, do func(c *corev1.Container, cs *corev1.ContainerStatus, field string)) {
	for i := range containers {
		at := slices.IndexFunc(statuses, func(cs corev1.ContainerStatus) bool { return cs.Name == containers[i].Name })
		if at >= 0 {
			do(&containers[i], &statuses[at], field+"{"+containers[i].Name+"}")
		}
	}
}

// stopSidecars ends the sidecars of a pod whose main containers have ended.
func (p *pass) stopSidecars() {
	p.stop(p.pod.Spec.InitContainers, p.status.InitContainerStatuses, 0, "spec.initContainers")
}

func (p *pass) stop(containers []corev1.Container, statuses []corev1.ContainerStatus, code int32, field string) {
	for i := range statuses {
		at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == statuses[i].Name })
		if at < 0 || statuses[i].State.Running == nil {
			continue
		}
		decision := p.decision
		p.exit(&containers[at], &statuses[i], ending{code: code})
		p.decision = decision
		p.tell(corev1.EventTypeNormal, "Killing", "Stopping container "+containers[at].Name, field+"{"+containers[at].Name+"}")
	}
}

// allEnded is true when every main container has ended for good.
func (p *pass) allEnded() bool {
	for _, cs := range p.status.ContainerStatuses {
		if cs.State.Terminated == nil {
			return false
		}
	}
	return len(p.status.ContainerStatuses) > 0
}

func (p *pass) anyStarted() bool {
	started := func(cs corev1.ContainerStatus) bool { return cs.ContainerID != "" }
	return slices.ContainsFunc(p.status.InitContainerStatuses, started) || slices.ContainsFunc(p.status.ContainerStatuses, started)
}

func (p *pass) specChanged() bool { return p.pod.Generation != p.status.ObservedGeneration }

// containerStatus returns the status of a container, a new one at place i if there is none.
func (p *pass) containerStatus(c *corev1.Container, statuses *[]corev1.ContainerStatus, i int) *corev1.ContainerStatus {
	for j := range *statuses {
		if (*statuses)[j].Name == c.Name {
			return &(*statuses)[j]
		}
	}
	i = min(i, len(*statuses))
	*statuses = slices.Insert(*statuses, i, corev1.ContainerStatus{Name: c.Name, Image: c.Image})
	return &(*statuses)[i]
}

// done is true for an init container that has succeeded.
func done(cs *corev1.ContainerStatus) bool {
	return cs.State.Terminated != nil && cs.State.Terminated.ExitCode == 0
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
