package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func topologySpread(list []corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		errs = append(errs, spreadConstraint(&list[i], list[i+1:], p.Index(i))...)
	}
	return errs
}

func spreadConstraint(c *corev1.TopologySpreadConstraint, rest []corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	errs := concat(
		refuse(c.MaxSkew <= 0, field.Invalid(p.Child("maxSkew"), c.MaxSkew, notPositive)),
		refuse(c.TopologyKey == "", field.Required(p.Child("topologyKey"), "can not be empty")),
		supported(c.WhenUnsatisfiable, p.Child("whenUnsatisfiable"), corev1.DoNotSchedule, corev1.ScheduleAnyway),
	)
	for _, other := range rest {
		if other.TopologyKey == c.TopologyKey && other.WhenUnsatisfiable == c.WhenUnsatisfiable {
			errs = append(errs, field.Duplicate(p.Child("{topologyKey, whenUnsatisfiable}"),
				fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
			break
		}
	}
	return concat(errs,
		minDomains(c, p.Child("minDomains")),
		when(c.NodeAffinityPolicy, p.Child("nodeAffinityPolicy"), inclusionPolicy),
		when(c.NodeTaintsPolicy, p.Child("nodeTaintsPolicy"), inclusionPolicy),
		spreadLabelKeys(c, p.Child("matchLabelKeys")),
		labelSelector(c.LabelSelector, p.Child("labelSelector")))
}

func minDomains(c *corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	if c.MinDomains == nil {
		return nil
	}
	return concat(
		refuse(*c.MinDomains <= 0, field.Invalid(p, c.MinDomains, notPositive)),
		refuse(c.WhenUnsatisfiable != corev1.DoNotSchedule, field.Invalid(p, c.MinDomains,
			fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable))))
}

func inclusionPolicy(v *corev1.NodeInclusionPolicy, p *field.Path) field.ErrorList {
	return supported(*v, p, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
}

// spreadLabelKeys refuses keys that the selector has too. One requirement for
// each of a pod's keys was added by the server itself; a second is the user's.
func spreadLabelKeys(c *corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	if len(c.MatchLabelKeys) == 0 {
		return nil
	}
	selected := sets.New[string]()
	var errs field.ErrorList
	if c.LabelSelector == nil {
		errs = append(errs, field.Forbidden(p, "must not be specified when labelSelector is not set"))
	} else {
		selected = sets.KeySet(c.LabelSelector.MatchLabels)
		seen := sets.New[string]()
		for _, r := range c.LabelSelector.MatchExpressions {
			if seen.Has(r.Key) || r.Operator != metav1.LabelSelectorOpIn || len(r.Values) != 1 {
				selected.Insert(r.Key)
			}
			seen.Insert(r.Key)
		}
	}
	return append(errs, each(c.MatchLabelKeys, p, func(key *string, p *field.Path) field.ErrorList {
		return concat(metav1validation.ValidateLabelName(*key, p),
			refuse(selected.Has(*key), field.Invalid(p, *key, "exists in both matchLabelKeys and labelSelector")))
	})...)
}
