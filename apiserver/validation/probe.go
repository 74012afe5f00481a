package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// lifecycleAndProbes checks what the kubelet does to a container that stays.
func (c *podContext) lifecycleAndProbes(ct *corev1.Container, p *field.Path) field.ErrorList {
	return concat(
		when(ct.Lifecycle, p.Child("lifecycle"), c.lifecycle),
		when(ct.LivenessProbe, p.Child("livenessProbe"), c.oneSuccessProbe),
		when(ct.ReadinessProbe, p.Child("readinessProbe"), c.readinessProbe),
		when(ct.StartupProbe, p.Child("startupProbe"), c.oneSuccessProbe),
	)
}

func (c *podContext) lifecycle(l *corev1.Lifecycle, p *field.Path) field.ErrorList {
	hook := func(h *corev1.LifecycleHandler, p *field.Path) field.ErrorList {
		return c.handler(handler{exec: h.Exec, httpGet: h.HTTPGet, tcpSocket: h.TCPSocket, sleep: h.Sleep}, p)
	}
	return concat(when(l.PostStart, p.Child("postStart"), hook), when(l.PreStop, p.Child("preStop"), hook),
		when(l.StopSignal, p.Child("stopSignal"), c.stopSignal))
}

// stopSignal checks only what does not depend on the list of Linux signals: a
// signal needs to know the operating system.
func (c *podContext) stopSignal(s *corev1.Signal, p *field.Path) field.ErrorList {
	if c.spec.OS == nil {
		return field.ErrorList{field.Forbidden(p, "may not be set for containers with empty `spec.os.name`")}
	}
	if c.spec.OS.Name == corev1.Windows {
		return supported(*s, p, corev1.SIGKILL, corev1.SIGTERM)
	}
	return nil
}

// oneSuccessProbe is a liveness or startup probe: one success is enough.
func (c *podContext) oneSuccessProbe(probe *corev1.Probe, p *field.Path) field.ErrorList {
	return append(c.probe(probe, p),
		refuse(probe.SuccessThreshold != 1, field.Invalid(p.Child("successThreshold"), probe.SuccessThreshold, "must be 1"))...)
}

func (c *podContext) readinessProbe(probe *corev1.Probe, p *field.Path) field.ErrorList {
	grace := probe.TerminationGracePeriodSeconds
	return append(c.probe(probe, p),
		refuse(grace != nil, field.Invalid(p.Child("terminationGracePeriodSeconds"), grace, "must not be set for readinessProbes"))...)
}

func (c *podContext) probe(probe *corev1.Probe, p *field.Path) field.ErrorList {
	errs := concat(
		c.handler(handler{exec: probe.Exec, httpGet: probe.HTTPGet, tcpSocket: probe.TCPSocket, grpc: probe.GRPC}, p),
		nonNegative(probe.InitialDelaySeconds, p.Child("initialDelaySeconds")),
		nonNegative(probe.TimeoutSeconds, p.Child("timeoutSeconds")),
		nonNegative(probe.PeriodSeconds, p.Child("periodSeconds")),
		nonNegative(probe.SuccessThreshold, p.Child("successThreshold")),
		nonNegative(probe.FailureThreshold, p.Child("failureThreshold")),
	)
	if grace := probe.TerminationGracePeriodSeconds; grace != nil && *grace <= 0 {
		errs = append(errs, field.Invalid(p.Child("terminationGracePeriodSeconds"), *grace, "must be greater than 0"))
	}
	return errs
}

// handler is the union of what probes and lifecycle hooks can do.
type handler struct {
	exec      *corev1.ExecAction
	httpGet   *corev1.HTTPGetAction
	tcpSocket *corev1.TCPSocketAction
	grpc      *corev1.GRPCAction
	sleep     *corev1.SleepAction
}

func (c *podContext) handler(h handler, p *field.Path) field.ErrorList {
	return exactlyOne([]alternative{
		{"exec", h.exec != nil, func() field.ErrorList {
			return refuse(len(h.exec.Command) == 0, field.Required(p.Child("exec", "command"), ""))
		}},
		{"httpGet", h.httpGet != nil, func() field.ErrorList { return httpGet(h.httpGet, p.Child("httpGet")) }},
		{"tcpSocket", h.tcpSocket != nil, func() field.ErrorList {
			return portNumberOrName(h.tcpSocket.Port, p.Child("tcpSocket", "port"))
		}},
		{"grpc", h.grpc != nil, func() field.ErrorList {
			return portNumberOrName(intstr.FromInt32(h.grpc.Port), p.Child("grpc", "port"))
		}},
		{"sleep", h.sleep != nil, func() field.ErrorList { return c.sleep(h.sleep, p.Child("sleep")) }},
	}, p, "handler type")
}

func httpGet(h *corev1.HTTPGetAction, p *field.Path) field.ErrorList {
	errs := concat(required(h.Path, p.Child("path")), portNumberOrName(h.Port, p.Child("port")),
		supported(h.Scheme, p.Child("scheme"), corev1.URISchemeHTTP, corev1.URISchemeHTTPS))
	for _, header := range h.HTTPHeaders {
		errs = append(errs, invalids(header.Name, p.Child("httpHeaders"), validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

func (c *podContext) sleep(s *corev1.SleepAction, p *field.Path) field.ErrorList {
	grace := c.spec.TerminationGracePeriodSeconds
	if grace == nil || (s.Seconds >= 0 && s.Seconds <= *grace) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, s.Seconds,
		fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
}
