package validation

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

// container holds the rules that all sorts of containers share.
func (c *podContext) container(ct *corev1.Container, p *field.Path) field.ErrorList {
	name := field.ErrorList{field.Required(p.Child("name"), "")}
	if ct.Name != "" {
		name = dnsLabel(ct.Name, p.Child("name"))
	}
	return concat(name,
		required(ct.Image, p.Child("image")),
		oneOf(ct.TerminationMessagePolicy, p.Child("terminationMessagePolicy"),
			corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError),
		containerPorts(ct.Ports, p.Child("ports")),
		c.env(ct.Env, p.Child("env")),
		envFrom(ct.EnvFrom, p.Child("envFrom")),
		c.volumeMounts(ct, p.Child("volumeMounts")),
		c.volumeDevices(ct, p.Child("volumeDevices")),
		pullPolicy(ct.ImagePullPolicy, p.Child("imagePullPolicy")),
		resources(&ct.Resources, containerResourceName, c.claims, p.Child("resources")),
		c.resizePolicy(ct.ResizePolicy, p.Child("resizePolicy")),
		c.securityContext(ct.SecurityContext, p.Child("securityContext")),
	)
}

func pullPolicy(policy corev1.PullPolicy, p *field.Path) field.ErrorList {
	return oneOf(policy, p, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func (c *podContext) containers(p *field.Path) field.ErrorList {
	if len(c.spec.Containers) == 0 {
		return field.ErrorList{field.Required(p, "")}
	}
	names := sets.New[string]()
	errs := each(c.spec.Containers, p, func(ct *corev1.Container, p *field.Path) field.ErrorList {
		errs := c.container(ct, p)
		errs = append(errs, refuse(names.Has(ct.Name), field.Duplicate(p.Child("name"), ct.Name))...)
		names.Insert(ct.Name)
		return concat(errs, c.lifecycleAndProbes(ct, p), restartPolicy(ct, p))
	})
	return append(errs, hostPortConflicts(c.spec.Containers, p, sets.New[string]())...)
}

func (c *podContext) initContainers(p *field.Path) field.ErrorList {
	names := sets.New[string]()
	for _, ct := range c.spec.Containers {
		names.Insert(ct.Name)
	}
	return each(c.spec.InitContainers, p, func(ct *corev1.Container, at *field.Path) field.ErrorList {
		errs := concat(c.container(ct, at), restartPolicy(ct, at))
		if names.Has(ct.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), ct.Name))
		} else if ct.Name != "" {
			names.Insert(ct.Name)
		}
		// They run one after the other, so each may use the same ports.
		errs = append(errs, hostPortConflicts([]corev1.Container{*ct}, p, sets.New[string]())...)
		if isSidecar(ct) {
			return append(errs, c.lifecycleAndProbes(ct, at)...)
		}
		return append(errs, plainInitContainer(ct, at)...)
	})
}

// isSidecar tells an init container that keeps running beside the main ones.
func isSidecar(ct *corev1.Container) bool {
	return ct.RestartPolicy != nil && *ct.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func plainInitContainer(ct *corev1.Container, p *field.Path) field.ErrorList {
	const reason = "may not be set for init containers without restartPolicy=Always"
	return concat(
		refuse(ct.Lifecycle != nil, field.Forbidden(p.Child("lifecycle"), reason)),
		refuse(ct.LivenessProbe != nil, field.Forbidden(p.Child("livenessProbe"), reason)),
		refuse(ct.ReadinessProbe != nil, field.Forbidden(p.Child("readinessProbe"), reason)),
		refuse(ct.StartupProbe != nil, field.Forbidden(p.Child("startupProbe"), reason)),
		refuse(len(ct.ResizePolicy) > 0, field.Invalid(p.Child("resizePolicy"), byFieldName(ct.ResizePolicy), "must not be set for init containers")),
	)
}

// restartPolicy checks a container's own policy and the exit codes it reacts to.
func restartPolicy(ct *corev1.Container, p *field.Path) field.ErrorList {
	at := p.Child("restartPolicy")
	if ct.RestartPolicy == nil {
		return refuse(len(ct.RestartPolicyRules) > 0, field.Required(at, "must specify restartPolicy when restart rules are used"))
	}
	errs := supported(*ct.RestartPolicy, at,
		corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
	rules := p.Child("restartPolicyRules")
	if n := len(ct.RestartPolicyRules); n > 20 {
		errs = append(errs, field.TooMany(rules, n, 20))
	}
	return append(errs, each(ct.RestartPolicyRules, rules, restartRule)...)
}

func restartRule(rule *corev1.ContainerRestartRule, p *field.Path) field.ErrorList {
	errs := supported(rule.Action, p.Child("action"),
		corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
	if rule.ExitCodes == nil {
		return append(errs, field.Required(p.Child("exitCodes"), "must be specified"))
	}
	at := p.Child("exitCodes")
	errs = append(errs, supported(rule.ExitCodes.Operator, at.Child("operator"),
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	if n := len(rule.ExitCodes.Values); n > 255 {
		errs = append(errs, field.TooMany(at.Child("values"), n, 255))
	}
	return errs
}

// ephemeralFields are the fields that a container added to a running pod may set.
var ephemeralFields = sets.New("Name", "Image", "Command", "Args", "WorkingDir", "EnvFrom", "Env", "VolumeMounts",
	"VolumeDevices", "TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "SecurityContext",
	"Stdin", "StdinOnce", "TTY")

func (c *podContext) ephemeralContainers(p *field.Path) field.ErrorList {
	others := sets.New[string]()
	for _, ct := range append(c.spec.Containers[:len(c.spec.Containers):len(c.spec.Containers)], c.spec.InitContainers...) {
		others.Insert(ct.Name)
	}
	names := others.Clone()
	const reason = "cannot be set for an Ephemeral Container"
	return each(c.spec.EphemeralContainers, p, func(ec *corev1.EphemeralContainer, p *field.Path) field.ErrorList {
		ct := (*corev1.Container)(&ec.EphemeralContainerCommon)
		errs := concat(c.container(ct, p), paddedImage(ct, p),
			refuse(names.Has(ec.Name), field.Duplicate(p.Child("name"), ec.Name)),
			refuse(ec.TargetContainerName != "" && !others.Has(ec.TargetContainerName),
				field.NotFound(p.Child("targetContainerName"), ec.TargetContainerName)),
			onlyFields(ec.EphemeralContainerCommon, ephemeralFields, reason, p))
		names.Insert(ec.Name)
		return append(errs, each(ec.VolumeMounts, p.Child("volumeMounts"), func(m *corev1.VolumeMount, p *field.Path) field.ErrorList {
			return concat(
				refuse(m.SubPath != "", field.Forbidden(p.Child("subPath"), reason)),
				refuse(m.SubPathExpr != "", field.Forbidden(p.Child("subPathExpr"), reason)))
		})...)
	})
}

// onlyFields refuses every set field of a struct that is not in the list.
func onlyFields(v any, allowed sets.Set[string], reason string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	value := reflect.ValueOf(v)
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		if allowed.Has(name) || reflect.DeepEqual(value.Field(i).Interface(), reflect.Zero(value.Field(i).Type()).Interface()) {
			continue
		}
		errs = append(errs, field.Forbidden(p.Child(strings.ToLower(name[:1])+name[1:]), reason))
	}
	return errs
}

// paddedImage applies to pods alone: some put a space into templates as a
// placeholder that something else replaces.
func paddedImage(ct *corev1.Container, p *field.Path) field.ErrorList {
	return refuse(strings.TrimSpace(ct.Image) != ct.Image,
		field.Invalid(p.Child("image"), ct.Image, "must not have leading or trailing whitespace"))
}

func containerPorts(ports []corev1.ContainerPort, p *field.Path) field.ErrorList {
	names := sets.New[string]()
	return each(ports, p, func(port *corev1.ContainerPort, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		if port.Name != "" {
			if messages := validation.IsValidPortName(port.Name); len(messages) > 0 {
				errs = append(errs, invalids(port.Name, p.Child("name"), messages)...)
			} else if names.Has(port.Name) {
				errs = append(errs, field.Duplicate(p.Child("name"), port.Name))
			}
			names.Insert(port.Name)
		}
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(p.Child("containerPort"), ""))
		} else {
			errs = append(errs, portNumber(port.ContainerPort, p.Child("containerPort"))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, portNumber(port.HostPort, p.Child("hostPort"))...)
		}
		return append(errs, oneOf(port.Protocol, p.Child("protocol"), protocols...)...)
	})
}

func hostPortConflicts(containers []corev1.Container, p *field.Path, taken sets.Set[string]) field.ErrorList {
	return each(containers, p, func(ct *corev1.Container, p *field.Path) field.ErrorList {
		return each(ct.Ports, p.Child("ports"), func(port *corev1.ContainerPort, p *field.Path) field.ErrorList {
			if port.HostPort == 0 {
				return nil
			}
			key := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
			errs := refuse(taken.Has(key), field.Duplicate(p.Child("hostPort"), key))
			taken.Insert(key)
			return errs
		})
	})
}

func (c *podContext) resizePolicy(policies []corev1.ContainerResizePolicy, p *field.Path) field.ErrorList {
	seen := sets.New[corev1.ResourceName]()
	return each(policies, p, func(policy *corev1.ContainerResizePolicy, at *field.Path) field.ErrorList {
		errs := concat(
			refuse(seen.Has(policy.ResourceName), field.Duplicate(at, policy.ResourceName)),
			oneOf(policy.ResourceName, p, corev1.ResourceCPU, corev1.ResourceMemory),
			oneOf(policy.RestartPolicy, p, corev1.NotRequired, corev1.RestartContainer),
			refuse(c.spec.RestartPolicy == corev1.RestartPolicyNever && policy.RestartPolicy != corev1.NotRequired,
				field.Invalid(p, policy.RestartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'")))
		seen.Insert(policy.ResourceName)
		return errs
	})
}
