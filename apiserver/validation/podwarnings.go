package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodWarnings are the warnings about a new pod. An update has none.
func PodWarnings(pod, old *corev1.Pod) []string {
	if old != nil {
		return nil
	}
	var w warnings
	if pod.Spec.OS == nil || pod.Spec.OS.Name != corev1.Windows {
		// The profile is in its field by now, copied from the annotation.
		visitContainers(&pod.Spec, nil, func(c *corev1.Container, _ *field.Path) {
			w.appArmor(&pod.ObjectMeta, c.Name, nil)
		})
	}
	w.hostname(pod.Name, "the Pod's hostname")
	w.podSpec(&pod.Spec, &pod.ObjectMeta, nil)
	return w
}

// PodStatusWarnings are the warnings about a write to status.
func PodStatusWarnings(pod, _ *corev1.Pod) []string {
	var w warnings
	p := field.NewPath("status")
	for i, ip := range pod.Status.PodIPs {
		w.ip(ip.IP, p.Child("podIPs").Index(i).Child("ip"))
	}
	for i, ip := range pod.Status.HostIPs {
		w.ip(ip.IP, p.Child("hostIPs").Index(i).Child("ip"))
	}
	return w
}

// warnings collects the texts about one object.
type warnings []string

// add appends a text about a field.
func (w *warnings) add(p *field.Path, format string, args ...any) {
	*w = append(*w, p.String()+": "+fmt.Sprintf(format, args...))
}

func (w *warnings) ip(value string, p *field.Path) {
	if value != "" {
		*w = append(*w, validation.GetWarningsForIP(p, value)...)
	}
}

func (w *warnings) cidr(value string, p *field.Path) {
	if value != "" {
		*w = append(*w, validation.GetWarningsForCIDR(p, value)...)
	}
}

// hostname warns of a name that is used where labels are expected.
func (w *warnings) hostname(name, use string) {
	if messages := validation.IsDNS1123Label(name); len(messages) > 0 {
		w.add(field.NewPath("metadata", "name"), "this is used in %s, which can result in surprising behavior; a DNS label is recommended: %v", use, messages)
	}
}

func (w *warnings) appArmor(meta *metav1.ObjectMeta, container string, p *field.Path) {
	key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + container
	if _, ok := meta.Annotations[key]; ok {
		w.add(p.Child("metadata", "annotations").Key(key), `deprecated since v1.30; use the "appArmorProfile" field instead`)
	}
}

// fraction warns of an amount of bytes that is not whole.
func (w *warnings) fraction(list corev1.ResourceList, name corev1.ResourceName, p *field.Path) {
	if q, ok := list[name]; ok && q.MilliValue()%1000 != 0 {
		w.add(p.Key(string(name)), "fractional byte value %q is invalid, must be an integer", q.String())
	}
}

// template warns about pods to be made; p is where the template stands.
func (w *warnings) template(t *corev1.PodTemplateSpec, p *field.Path) {
	w.podSpec(&t.Spec, &t.ObjectMeta, p)
}

// podSpec warns about a pod, or about a template when it stands at a path.
func (w *warnings) podSpec(s *corev1.PodSpec, meta *metav1.ObjectMeta, p *field.Path) {
	spec := p.Child("spec")
	w.placement(s, spec)
	for _, old := range []struct{ annotation, advice string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		if _, ok := meta.Annotations[old.annotation]; ok {
			w.add(p.Child("metadata", "annotations").Key(old.annotation), "%s", old.advice)
		}
	}
	w.volumes(s.Volumes, spec.Child("volumes"))
	w.repeatedReferences(s, spec)
	w.fraction(s.Overhead, corev1.ResourceMemory, spec.Child("overhead"))
	w.fraction(s.Overhead, corev1.ResourceEphemeralStorage, spec.Child("overhead"))
	w.containers(s, meta, p)
	w.ports(s, spec)
	w.portNames(s, spec)
	if t := s.TerminationGracePeriodSeconds; t != nil && *t < 0 {
		w.add(spec.Child("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	w.podAffinity(s.Affinity, spec.Child("affinity"))
	w.podAddresses(s, spec)
}

// obsoleteNodeLabels are labels of nodes that have a better name now.
var obsoleteNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// placement warns about the choice of nodes.
func (w *warnings) placement(s *corev1.PodSpec, p *field.Path) {
	for _, key := range sortedKeys(s.NodeSelector) {
		if advice, ok := obsoleteNodeLabels[key]; ok {
			w.add(p.Child("nodeSelector").Key(key), "%s", advice)
		}
	}
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		a, at := s.Affinity.NodeAffinity, p.Child("affinity", "nodeAffinity")
		if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			w.nodeSelector(r, at.Child("requiredDuringSchedulingIgnoredDuringExecution"))
		}
		for i, t := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			w.nodeTerm(&t.Preference, true, at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"))
		}
	}
	for i, t := range s.TopologySpreadConstraints {
		at := p.Child("topologySpreadConstraints").Index(i)
		w.obsoleteLabel(t.TopologyKey, at.Child("topologyKey"))
		w.selectsNothing(t.LabelSelector, at)
	}
}

func (w *warnings) nodeSelector(s *corev1.NodeSelector, p *field.Path) {
	for i := range s.NodeSelectorTerms {
		w.nodeTerm(&s.NodeSelectorTerms[i], false, p.Child("nodeSelectorTerms").Index(i))
	}
}

// nodeTerm looks at values too where validation does not.
func (w *warnings) nodeTerm(t *corev1.NodeSelectorTerm, values bool, p *field.Path) {
	for i, r := range t.MatchExpressions {
		at := p.Child("matchExpressions").Index(i)
		w.obsoleteLabel(r.Key, at.Child("key"))
		if !values {
			continue
		}
		for j, v := range r.Values {
			for _, message := range validation.IsValidLabelValue(v) {
				w.add(at.Child("values").Index(j), "%s is invalid, %s", v, message)
			}
		}
	}
}

func (w *warnings) obsoleteLabel(key string, p *field.Path) {
	if advice, ok := obsoleteNodeLabels[key]; ok {
		w.add(p, "%s is %s", key, advice)
	}
}

func (w *warnings) selectsNothing(s *metav1.LabelSelector, p *field.Path) {
	if s == nil {
		w.add(p.Child("labelSelector"), "a null labelSelector results in matching no pod")
	}
}

func (w *warnings) podAffinity(a *corev1.Affinity, p *field.Path) {
	if a == nil {
		return
	}
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, p *field.Path) {
		for i, t := range required {
			w.selectsNothing(t.LabelSelector, p.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))
		}
		for i, t := range preferred {
			w.selectsNothing(t.PodAffinityTerm.LabelSelector, p.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm"))
		}
	}
	if t := a.PodAffinity; t != nil {
		terms(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAffinity"))
	}
	if t := a.PodAntiAffinity; t != nil {
		terms(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAntiAffinity"))
	}
}

func (w *warnings) podAddresses(s *corev1.PodSpec, p *field.Path) {
	if s.DNSConfig != nil {
		for i, server := range s.DNSConfig.Nameservers {
			w.ip(server, p.Child("dnsConfig", "nameservers").Index(i))
		}
	}
	for i, alias := range s.HostAliases {
		w.ip(alias.IP, p.Child("hostAliases").Index(i).Child("ip"))
	}
}

// repeatedReferences warns of what merges by a key and so loses its twin.
func (w *warnings) repeatedReferences(s *corev1.PodSpec, p *field.Path) {
	seen := sets.New[string]()
	for i, alias := range s.HostAliases {
		if seen.Has(alias.IP) {
			w.add(p.Child("hostAliases").Index(i).Child("ip"), "duplicate ip %q", alias.IP)
		}
		seen.Insert(alias.IP)
	}
	seen = sets.New[string]()
	for i, ref := range s.ImagePullSecrets {
		if seen.Has(ref.Name) {
			w.add(p.Child("imagePullSecrets").Index(i).Child("name"), "duplicate name %q", ref.Name)
		}
		seen.Insert(ref.Name)
	}
	for i, ref := range s.ImagePullSecrets {
		if ref.Name == "" {
			w.add(p.Child("imagePullSecrets").Index(i).Child("name"), "invalid empty name %q", "")
		}
	}
}

// visitContainers walks the containers of all kinds, the initial ones first.
func visitContainers(s *corev1.PodSpec, p *field.Path, visit func(*corev1.Container, *field.Path)) {
	for i := range s.InitContainers {
		visit(&s.InitContainers[i], p.Child("initContainers").Index(i))
	}
	for i := range s.Containers {
		visit(&s.Containers[i], p.Child("containers").Index(i))
	}
	for i := range s.EphemeralContainers {
		c := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon)
		visit(&c, p.Child("ephemeralContainers").Index(i))
	}
}

func (w *warnings) containers(s *corev1.PodSpec, meta *metav1.ObjectMeta, p *field.Path) {
	annotations := p.Child("metadata", "annotations")
	const seccomp = `non-functional in v1.27+; use the "seccompProfile" field instead`
	if _, ok := meta.Annotations[corev1.SeccompPodAnnotationKey]; ok && (s.SecurityContext == nil || s.SecurityContext.SeccompProfile == nil) {
		w.add(annotations.Key(corev1.SeccompPodAnnotationKey), seccomp)
	}
	podProfile := s.SecurityContext != nil && s.SecurityContext.AppArmorProfile != nil
	visitContainers(s, p.Child("spec"), func(c *corev1.Container, at *field.Path) {
		key := corev1.SeccompContainerAnnotationKeyPrefix + c.Name
		if _, ok := meta.Annotations[key]; ok && (c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil) {
			w.add(annotations.Key(key), seccomp)
		}
		if p != nil && !podProfile && (c.SecurityContext == nil || c.SecurityContext.AppArmorProfile == nil) {
			w.appArmor(meta, c.Name, p)
		}
		limits, requests := at.Child("resources", "limits"), at.Child("resources", "requests")
		w.fraction(c.Resources.Limits, corev1.ResourceMemory, limits)
		w.fraction(c.Resources.Requests, corev1.ResourceMemory, requests)
		w.fraction(c.Resources.Limits, corev1.ResourceEphemeralStorage, limits)
		w.fraction(c.Resources.Requests, corev1.ResourceEphemeralStorage, requests)
		w.hiddenVariables(c.Env, at.Child("env"))
	})
}

// hiddenVariables warns of a variable that is defined again, unless its new value
// builds on the old one.
func (w *warnings) hiddenVariables(env []corev1.EnvVar, p *field.Path) {
	seen := sets.New[string]()
	for i, v := range env {
		reference := "$(" + v.Name + ")"
		extends := v.ValueFrom == nil && v.Value != reference && strings.Contains(v.Value, reference)
		if seen.Has(v.Name) && !extends {
			w.add(p.Index(i), "hides previous definition of %q, which may be dropped when using apply", v.Name)
		}
		seen.Insert(v.Name)
	}
}

// ports warns of ports that stand for the same one.
func (w *warnings) ports(s *corev1.PodSpec, p *field.Path) {
	type placed struct {
		at   *field.Path
		port corev1.ContainerPort
	}
	same := map[string][]placed{}
	visitContainers(s, p, func(c *corev1.Container, p *field.Path) {
		for i, port := range c.Ports {
			at := p.Child("ports").Index(i)
			if port.HostIP != "" && port.HostPort == 0 {
				w.add(at, "hostIP set without hostPort: %+v", port)
			}
			key := fmt.Sprintf("%d/%s", port.ContainerPort, port.Protocol)
			for _, other := range same[key] {
				if how := portConflict(port, other.port); how != "" {
					w.add(at, "%s port definition with %s", how, other.at)
				}
			}
			same[key] = append(same[key], placed{at, port})
		}
	})
}

// portNames warns of names that stand for several ports of what runs together:
// the containers, and the initial ones that stay.
func (w *warnings) portNames(s *corev1.PodSpec, p *field.Path) {
	seen := map[string]*field.Path{}
	name := func(ports []corev1.ContainerPort, p *field.Path) {
		for i, port := range ports {
			at, other := p.Child("ports").Index(i), seen[port.Name]
			if port.Name == "" {
				continue
			}
			if other != nil {
				w.add(at, "duplicate port name %q with %s, services and probes that select ports by name will use %s", port.Name, other, other)
				continue
			}
			seen[port.Name] = at
		}
	}
	for i, c := range s.Containers {
		name(c.Ports, p.Child("containers").Index(i))
	}
	for i, c := range s.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			name(c.Ports, p.Child("initContainers").Index(i))
		}
	}
}

func portConflict(a, b corev1.ContainerPort) string {
	switch {
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0 || b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "") != (b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}
