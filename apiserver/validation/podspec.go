package validation

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podContext is what the rules of a part must know of the pod around it.
type podContext struct {
	spec *corev1.PodSpec
	// meta is nil in a template, whose pods have no name yet.
	meta    *metav1.ObjectMeta
	volumes map[string]*corev1.Volume
	claims  sets.Set[string]
}

func (c *podContext) inTemplate() bool { return c.meta == nil }

// sharesHostUsers is the default: the pod has no user namespace of its own.
func (c *podContext) sharesHostUsers() bool {
	return c.spec.HostUsers == nil || *c.spec.HostUsers
}

// podSpec holds the rules of a pod's spec, alone or in a template; meta is nil in
// a template.
func podSpec(spec *corev1.PodSpec, meta *metav1.ObjectMeta, p *field.Path) field.ErrorList {
	c := &podContext{spec: spec, meta: meta, claims: sets.New[string]()}
	for _, claim := range spec.ResourceClaims {
		if claim.Name != "" {
			c.claims.Insert(claim.Name)
		}
	}
	errs := refuse(spec.TerminationGracePeriodSeconds == nil, field.Required(p.Child("terminationGracePeriodSeconds"), ""))
	errs = append(errs, c.podVolumes(p.Child("volumes"))...) // fills c.volumes, which containers look at
	return concat(errs,
		c.podClaims(p.Child("resourceClaims")),
		c.containers(p.Child("containers")),
		c.initContainers(p.Child("initContainers")),
		c.ephemeralContainers(p.Child("ephemeralContainers")),
		c.podResources(p.Child("resources")),
		c.hostPorts(p.Child("containers")),
		oneOf(spec.RestartPolicy, p.Child("restartPolicy"),
			corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever),
		oneOf(spec.DNSPolicy, p.Child("dnsPolicy"),
			corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone),
		metav1validation.ValidateLabels(spec.NodeSelector, p.Child("nodeSelector")),
		c.podSecurityContext(p.Child("securityContext")),
		affinity(spec.Affinity, p.Child("affinity")),
		dnsConfig(spec.DNSConfig, spec.DNSPolicy, p.Child("dnsConfig")),
		each(spec.ReadinessGates, p.Child("readinessGates"), func(g *corev1.PodReadinessGate, p *field.Path) field.ErrorList {
			return qualifiedName(string(g.ConditionType), p.Child("conditionType"))
		}),
		schedulingGates(spec.SchedulingGates, p.Child("schedulingGates")),
		topologySpread(spec.TopologySpreadConstraints, p.Child("topologySpreadConstraints")),
		c.hostProcess(p),
		c.hostUsers(p),
		c.podReferences(p),
		c.podOS(p),
	)
}

// podReferences checks the names that a spec refers to, and its plain numbers.
func (c *podContext) podReferences(p *field.Path) field.ErrorList {
	spec := c.spec
	var errs field.ErrorList
	if spec.ServiceAccountName != "" {
		errs = append(errs, named(spec.ServiceAccountName, p.Child("serviceAccountName"), apivalidation.ValidateServiceAccountName)...)
	}
	if spec.NodeName != "" {
		errs = append(errs, named(spec.NodeName, p.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	if d := spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(p.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	if spec.Hostname != "" {
		errs = append(errs, dnsLabel(spec.Hostname, p.Child("hostname"))...)
	}
	errs = append(errs, c.hostnameOverride(p)...)
	if spec.Subdomain != "" {
		errs = append(errs, dnsLabel(spec.Subdomain, p.Child("subdomain"))...)
	}
	errs = append(errs, tolerations(spec.Tolerations, p.Child("tolerations"))...)
	errs = append(errs, each(spec.HostAliases, p.Child("hostAliases"), hostAlias)...)
	if spec.PriorityClassName != "" {
		errs = append(errs, named(spec.PriorityClassName, p.Child("priorityClassName"), apivalidation.NameIsDNSSubdomain)...)
	}
	if spec.RuntimeClassName != nil {
		errs = append(errs, named(*spec.RuntimeClassName, p.Child("runtimeClassName"), apivalidation.NameIsDNSSubdomain)...)
	}
	if spec.PreemptionPolicy != nil {
		errs = append(errs, preemptionPolicy(*spec.PreemptionPolicy, p.Child("preemptionPolicy"))...)
	}
	if spec.Overhead != nil {
		errs = append(errs, overhead(spec.Overhead, p.Child("overhead"))...)
	}
	return errs
}

func (c *podContext) hostnameOverride(p *field.Path) field.ErrorList {
	name := c.spec.HostnameOverride
	if name == nil {
		return nil
	}
	at := p.Child("hostnameOverride")
	errs := dnsSubdomain(*name, at)
	if len(*name) > 64 {
		errs = append(errs, field.TooLong(at, *name, 64))
	}
	if isTrue(c.spec.SetHostnameAsFQDN) {
		errs = append(errs, field.Invalid(p, "hostnameOverride", "cannot be used when setHostnameAsFQDN is true"))
	}
	if c.spec.HostNetwork {
		errs = append(errs, field.Invalid(p, "hostnameOverride", "cannot be used when hostNetwork is true"))
	}
	return errs
}

func preemptionPolicy(policy corev1.PreemptionPolicy, p *field.Path) field.ErrorList {
	return oneOf(policy, p, corev1.PreemptLowerPriority, corev1.PreemptNever)
}

func hostAlias(a *corev1.HostAlias, p *field.Path) field.ErrorList {
	return concat(ipAddress(a.IP, p.Child("ip")),
		each(a.Hostnames, p.Child("hostnames"), func(name *string, p *field.Path) field.ErrorList {
			return dnsSubdomain(*name, p)
		}))
}

func schedulingGates(gates []corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
	seen := sets.New[string]()
	return each(gates, p, func(g *corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
		errs := concat(qualifiedName(g.Name, p), refuse(seen.Has(g.Name), field.Duplicate(p, g.Name)))
		seen.Insert(g.Name)
		return errs
	})
}

// podClaims checks the resource claims that containers may refer to.
func (c *podContext) podClaims(p *field.Path) field.ErrorList {
	seen := sets.New[string]()
	return each(c.spec.ResourceClaims, p, func(claim *corev1.PodResourceClaim, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		switch at := p.Child("name"); {
		case claim.Name == "":
			errs = append(errs, field.Required(at, ""))
		case seen.Has(claim.Name):
			errs = append(errs, field.Duplicate(at, claim.Name))
		default:
			seen.Insert(claim.Name)
			errs = append(errs, dnsLabel(claim.Name, at)...)
		}
		name, template := claim.ResourceClaimName, claim.ResourceClaimTemplateName
		if name != nil && template != nil {
			errs = append(errs, field.Invalid(p, byFieldName(claim), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		}
		if name == nil && template == nil {
			errs = append(errs, field.Invalid(p, byFieldName(claim), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		if name != nil {
			errs = append(errs, named(*name, p.Child("resourceClaimName"), apivalidation.NameIsDNSSubdomain)...)
		}
		if template != nil {
			errs = append(errs, named(*template, p.Child("resourceClaimTemplateName"), apivalidation.NameIsDNSSubdomain)...)
		}
		return errs
	})
}

// hostPorts checks that in the host's network a container listens where it says.
// A template may leave hostPort out, since it is filled in when the pod is made.
func (c *podContext) hostPorts(p *field.Path) field.ErrorList {
	if !c.spec.HostNetwork {
		return nil
	}
	return each(c.spec.Containers, p, func(container *corev1.Container, p *field.Path) field.ErrorList {
		return each(container.Ports, p.Child("ports"), func(port *corev1.ContainerPort, p *field.Path) field.ErrorList {
			differ := port.HostPort != port.ContainerPort && (!c.inTemplate() || port.HostPort != 0)
			return refuse(differ, field.Invalid(p.Child("hostPort"), port.HostPort, "must match `containerPort` when `hostNetwork` is true"))
		})
	})
}

func (c *podContext) hostUsers(p *field.Path) field.ErrorList {
	if c.sharesHostUsers() {
		return nil
	}
	const reason = "when `hostUsers` is false"
	return concat(
		refuse(c.spec.HostNetwork, field.Forbidden(p.Child("hostNetwork"), reason)),
		refuse(c.spec.HostPID, field.Forbidden(p.Child("hostPID"), reason)),
		refuse(c.spec.HostIPC, field.Forbidden(p.Child("hostIPC"), reason)),
	)
}

// eachContainer visits the init, main and ephemeral containers of a spec.
func eachContainer(spec *corev1.PodSpec, p *field.Path, visit func(*corev1.Container, *field.Path)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i], p.Child("initContainers").Index(i))
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i], p.Child("containers").Index(i))
	}
	for i := range spec.EphemeralContainers {
		visit((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon), p.Child("ephemeralContainers").Index(i))
	}
}
