package defaults

import (
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

func container(c *corev1.Container) {
	setZero(&c.ImagePullPolicy, pullPolicy(c.Image))
	setZero(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setZero(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		setZero(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		envVar(&c.Env[i])
	}
	resourceList(c.Resources.Limits, c.Resources.Requests)
	probe(c.LivenessProbe)
	probe(c.ReadinessProbe)
	probe(c.StartupProbe)
	if c.Lifecycle != nil {
		lifecycleHandler(c.Lifecycle.PostStart)
		lifecycleHandler(c.Lifecycle.PreStop)
	}
}

// pullPolicy is Always for an image that may change under its name, that is one
// tagged latest, if only by omission. A digest pins it, and a name that cannot be
// parsed is left to the kubelet.
func pullPolicy(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	tag := ""
	if tagged, ok := named.(reference.Tagged); ok {
		tag = tagged.Tag()
	}
	if tag == "latest" || reference.IsNameOnly(named) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func envVar(env *corev1.EnvVar) {
	if env.ValueFrom == nil {
		return
	}
	fieldRef(env.ValueFrom.FieldRef)
	if file := env.ValueFrom.FileKeyRef; file != nil {
		setNil(&file.Optional, false)
	}
}

func fieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		setZero(&ref.APIVersion, "v1")
	}
}

func probe(p *corev1.Probe) {
	if p == nil {
		return
	}
	setZero(&p.TimeoutSeconds, 1)
	setZero(&p.PeriodSeconds, 10)
	setZero(&p.SuccessThreshold, 1)
	setZero(&p.FailureThreshold, 3)
	httpGet(p.HTTPGet)
	if p.GRPC != nil {
		setNil(&p.GRPC.Service, "")
	}
}

func lifecycleHandler(h *corev1.LifecycleHandler) {
	if h != nil {
		httpGet(h.HTTPGet)
	}
}

func httpGet(action *corev1.HTTPGetAction) {
	if action == nil {
		return
	}
	setZero(&action.Path, "/")
	setZero(&action.Scheme, corev1.URISchemeHTTP)
}
