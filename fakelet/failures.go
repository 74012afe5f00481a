package fakelet

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/fakelet/runtime"
)

// failAnnotation on a Pod asks for failures: a list such as
// "image-pull, crash:sidecar". A word without a container means all of them.
const failAnnotation = "kubesim.io/fail"

// failure is a word of the annotation.
type failure string

const (
	failAdmission failure = "admission"  // the node refuses the pod: UnexpectedAdmissionError
	failImagePull failure = "image-pull" // the image can't be pulled: ErrImagePull
	failStart     failure = "start"      // the command can't be executed: StartError
	failCrash     failure = "crash"      // it exits with 1 as soon as it runs
	failOOM       failure = "oom"        // it is killed for memory as soon as it runs
	failReadiness failure = "readiness"  // it is never ready
	failLiveness  failure = "liveness"   // its liveness probe fails
	failHang      failure = "hang"       // it does not stop when asked to
)

// fails is true when a container of the pod is to fail that way. A nil container
// asks about the pod.
func fails(pod *corev1.Pod, c *corev1.Container, f failure) bool {
	for word := range strings.SplitSeq(pod.Annotations[failAnnotation], ",") {
		what, name, one := strings.Cut(strings.TrimSpace(word), ":")
		if failure(what) == f && (!one || c != nil && c.Name == name) {
			return true
		}
	}
	return false
}

// ending is how a container ends by itself.
type ending struct {
	code            int32
	reason, message string        // reason is Completed or Error if ""
	after           time.Duration // since its start
}

// ending is how and when a container ends by itself, if that is known: by the
// pod's annotation, by its plan, or because the runtime says that it has.
func (p *pass) ending(c *corev1.Container, cs *corev1.ContainerStatus) (ending, bool) {
	switch {
	case fails(p.pod, c, failStart):
		return ending{code: 128, reason: "StartError", message: runtime.StartError("/bin/app")}, true
	case fails(p.pod, c, failCrash):
		return ending{code: 1}, true
	case fails(p.pod, c, failOOM):
		return ending{code: exitKilled, reason: "OOMKilled"}, true
	}
	if p.world != nil {
		if r := p.world.result(cs); r != nil {
			return ending{code: r.Code, reason: r.Reason, message: r.Message}, true
		}
	}
	switch plan := planOf(p.pod, c); plan.Kind {
	case runtime.Broken:
		return ending{code: 128, reason: "StartError", message: runtime.StartError(plan.Argv[0])}, true
	case runtime.Timed:
		return ending{code: plan.Code, after: plan.After}, plan.After < runtime.Forever
	}
	return ending{}, false
}
