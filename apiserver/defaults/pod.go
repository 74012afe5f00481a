package defaults

import (
	corev1 "k8s.io/api/core/v1"
)

// Pod fills a pod: the defaults of every pod spec, and those that only a pod
// that is to run gets.
func Pod(pod *corev1.Pod) {
	eachContainer(&pod.Spec, func(c *corev1.Container) {
		if c.Resources.Limits != nil {
			c.Resources.Requests = addMissing(c.Resources.Requests, c.Resources.Limits)
		}
	})
	podResources(pod)
	setNil(&pod.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if pod.Spec.HostNetwork {
		hostPorts(&pod.Spec)
	}
	podSpec(&pod.Spec)
	// No template is changed for a negative period, lest its hash change, but a
	// pod cannot be given less than no time.
	if *pod.Spec.TerminationGracePeriodSeconds < 0 {
		*pod.Spec.TerminationGracePeriodSeconds = 1
	}
}

// PodTemplateSpec fills the template within a workload.
func PodTemplateSpec(template *corev1.PodTemplateSpec) {
	podSpec(&template.Spec)
}

// PodTemplate fills a core/v1 PodTemplate object.
func PodTemplate(template *corev1.PodTemplate) {
	PodTemplateSpec(&template.Template)
}

func podSpec(spec *corev1.PodSpec) {
	setZero(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setZero(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setNil(&spec.SecurityContext, corev1.PodSecurityContext{})
	setNil(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	setZero(&spec.SchedulerName, corev1.DefaultSchedulerName)
	// The account has an old and a new name on the wire; the new one wins.
	setZero(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName

	for i := range spec.Volumes {
		volume(&spec.Volumes[i])
	}
	eachContainer(spec, container)
	for i := range spec.EphemeralContainers {
		container((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	resourceList(spec.Overhead)
	if spec.Resources != nil {
		resourceList(spec.Resources.Limits, spec.Resources.Requests)
	}
}

// eachContainer visits init containers and containers.
func eachContainer(spec *corev1.PodSpec, visit func(*corev1.Container)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i])
	}
}

// hostPorts equates host and container ports, as the host's network demands.
func hostPorts(spec *corev1.PodSpec) {
	eachContainer(spec, func(c *corev1.Container) {
		for i := range c.Ports {
			setZero(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
		}
	})
}
