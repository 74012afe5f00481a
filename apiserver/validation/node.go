package validation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// Node holds the rules of core/v1 Nodes. Its network and its provider's id are
// given once.
func Node(n, old *corev1.Node) field.ErrorList {
	if old != nil {
		return nodeUpdate(n, old)
	}
	return concat(
		metaCreate(&n.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain),
		nodeAnnotations(n.Annotations),
		taints(n.Spec.Taints, field.NewPath("metadata", "taints")), // sic
		nodeResources(&n.Status),
		declaredFeatures(n.Status.DeclaredFeatures),
		podCIDRs(networksOf(n), field.NewPath("spec", "podCIDRs")))
}

// NodeStatus holds the rules of a write to nodes/status.
func NodeStatus(n, old *corev1.Node) field.ErrorList { return nodeUpdate(n, old) }

func nodeUpdate(n, old *corev1.Node) field.ErrorList {
	spec := field.NewPath("spec")
	addresses := sets.New[corev1.NodeAddress]()
	return concat(
		metaUpdate(&n.ObjectMeta, &old.ObjectMeta),
		nodeAnnotations(n.Annotations),
		nodeResources(&n.Status),
		declaredFeatures(n.Status.DeclaredFeatures),
		each(n.Status.Addresses, field.NewPath("status", "addresses"), func(a *corev1.NodeAddress, p *field.Path) field.ErrorList {
			errs := refuse(addresses.Has(*a), field.Duplicate(p, byFieldName(a)))
			addresses.Insert(*a)
			return errs
		}),
		podCIDRUpdate(n, old, spec.Child("podCIDRs")),
		refuse(old.Spec.ProviderID != "" && old.Spec.ProviderID != n.Spec.ProviderID,
			field.Forbidden(spec.Child("providerID"), `node updates may not change providerID except from "" to valid`)),
		taints(n.Spec.Taints, field.NewPath("metadata", "taints")),
		refuse(n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID, field.Forbidden(spec.Child("externalID"), "may not be updated")))
}

func podCIDRUpdate(n, old *corev1.Node, p *field.Path) field.ErrorList {
	now, was := networksOf(n), networksOf(old)
	if len(was) == 0 {
		return podCIDRs(now, p)
	}
	changed := field.Forbidden(p, `node updates may not change podCIDR except from "" to valid`)
	if len(now) != len(was) {
		return field.ErrorList{changed}
	}
	var errs field.ErrorList
	for i := range was {
		errs = append(errs, refuse(now[i] != was[i], changed)...)
	}
	return errs
}

// networksOf are a node's networks from the two fields that hold them; podCIDR
// wins where they differ.
func networksOf(n *corev1.Node) []string {
	s := &n.Spec
	if s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR) {
		return []string{s.PodCIDR}
	}
	return s.PodCIDRs
}

func podCIDRs(cidrs []string, p *field.Path) field.ErrorList {
	errs := each(cidrs, p, func(c *string, p *field.Path) field.ErrorList { return cidr(*c, p) })
	if len(cidrs) < 2 {
		return errs
	}
	both, err := netutils.IsDualStackCIDRStrings(cidrs)
	if err != nil {
		errs = append(errs, field.InternalError(p, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	return concat(errs, refuse(!both || len(cidrs) > 2, field.Invalid(p, cidrs, "may specify no more than one CIDR for each IP family")),
		repeated(cidrs, p, func(i int) any { return cidrs[i] }))
}

func nodeResources(s *corev1.NodeStatus) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		name string
		list corev1.ResourceList
	}{{"capacity", s.Capacity}, {"allocatable", s.Allocatable}} {
		for _, name := range sortedKeys(list.list) {
			errs = append(errs, resourceQuantity(name, list.list[name], field.NewPath("status", list.name, string(name)))...)
		}
	}
	return errs
}

var featureName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(/[A-Za-z0-9]+)*$`)

// declaredFeatures checks what a kubelet says that it can do.
func declaredFeatures(features []string) field.ErrorList {
	p := field.NewPath("status", "declaredFeatures")
	return append(each(features, p, func(f *string, p *field.Path) field.ErrorList {
		return refuse(!featureName.MatchString(*f), field.Invalid(p, *f,
			fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", *f)))
	}), refuse(!slices.IsSorted(features), field.Invalid(p, features, "list must be sorted"))...)
}

func nodeAnnotations(annotations map[string]string) field.ErrorList {
	const key = "scheduler.alpha.kubernetes.io/taints"
	p := field.NewPath("metadata", "annotations")
	value := annotations[key]
	if value == "" {
		return nil
	}
	var list []corev1.Taint
	if err := json.Unmarshal([]byte(value), &list); err != nil {
		return field.ErrorList{field.Invalid(p, key, err.Error())}
	}
	return taints(list, p.Child(key))
}

func taints(list []corev1.Taint, p *field.Path) field.ErrorList {
	type pair struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := sets.New[pair]()
	return each(list, p, func(t *corev1.Taint, p *field.Path) field.ErrorList {
		errs := metav1validation.ValidateLabelName(t.Key, p.Child("key"))
		if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
			errs = append(errs, field.Invalid(p.Child("value"), t.Value, strings.Join(messages, ";")))
		}
		errs = append(errs, taintEffect(t.Effect, p.Child("effect"))...)
		if seen.Has(pair{t.Key, t.Effect}) {
			twice := field.Duplicate(p, byFieldName(t))
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen.Insert(pair{t.Key, t.Effect})
		return errs
	})
}
