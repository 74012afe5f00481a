package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

func affinity(a *corev1.Affinity, p *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		at := p.Child("nodeAffinity")
		errs = append(errs, concat(when(n.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(requiredTerms), nodeSelector),
			each(n.PreferredDuringSchedulingIgnoredDuringExecution, at.Child(preferredTerms), preferredNodes))...)
	}
	if n := a.PodAffinity; n != nil {
		at := p.Child("podAffinity")
		errs = append(errs, concat(each(n.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(requiredTerms), podAffinityTerm),
			each(n.PreferredDuringSchedulingIgnoredDuringExecution, at.Child(preferredTerms), preferredPods))...)
	}
	if n := a.PodAntiAffinity; n != nil {
		at := p.Child("podAntiAffinity")
		errs = append(errs, concat(each(n.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(requiredTerms), podAffinityTerm),
			each(n.PreferredDuringSchedulingIgnoredDuringExecution, at.Child(preferredTerms), preferredPods))...)
	}
	return errs
}

// nodeSelector holds the rules of terms of which a node must meet one.
func nodeSelector(s *corev1.NodeSelector, p *field.Path) field.ErrorList {
	at := p.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(at, "must have at least one node selector term")}
	}
	return each(s.NodeSelectorTerms, at, func(t *corev1.NodeSelectorTerm, p *field.Path) field.ErrorList {
		return nodeSelectorTerm(t, true, p)
	})
}

// preferredNodes lets label values be wrong: they cost a score, not the pod.
func preferredNodes(t *corev1.PreferredSchedulingTerm, p *field.Path) field.ErrorList {
	return append(weight(t.Weight, p.Child("weight")), nodeSelectorTerm(&t.Preference, false, p.Child("preference"))...)
}

func weight(w int32, p *field.Path) field.ErrorList {
	return refuse(w <= 0 || w > 100, field.Invalid(p, w, "must be in the range 1-100"))
}

func nodeSelectorTerm(t *corev1.NodeSelectorTerm, checkValues bool, p *field.Path) field.ErrorList {
	labels := each(t.MatchExpressions, p.Child("matchExpressions"), func(r *corev1.NodeSelectorRequirement, p *field.Path) field.ErrorList {
		errs := concat(nodeOperator(r, p), metav1validation.ValidateLabelName(r.Key, p.Child("key")))
		if !checkValues {
			return errs
		}
		return append(errs, each(r.Values, p.Child("values"), func(v *string, p *field.Path) field.ErrorList {
			return invalids(*v, p, validation.IsValidLabelValue(*v))
		})...)
	})
	return append(labels, each(t.MatchFields, p.Child("matchFields"), nodeFieldRequirement)...)
}

func nodeOperator(r *corev1.NodeSelectorRequirement, p *field.Path) field.ErrorList {
	at := p.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		return refuse(len(r.Values) == 0, field.Required(at, "must be specified when `operator` is 'In' or 'NotIn'"))
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		return refuse(len(r.Values) > 0, field.Forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return refuse(len(r.Values) != 1, field.Required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
	}
	return field.ErrorList{field.Invalid(p.Child("operator"), r.Operator, "not a valid selector operator")}
}

func nodeFieldRequirement(r *corev1.NodeSelectorRequirement, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		errs = refuse(len(r.Values) != 1,
			field.Required(p.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
	default:
		errs = append(errs, field.Invalid(p.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(p.Child("key"), r.Key, "not a valid field selector key"))
	}
	return append(errs, each(r.Values, p.Child("values"), func(v *string, p *field.Path) field.ErrorList {
		return named(*v, p, apivalidation.NameIsDNSSubdomain)
	})...)
}

func preferredPods(t *corev1.WeightedPodAffinityTerm, p *field.Path) field.ErrorList {
	return append(weight(t.Weight, p.Child("weight")), podAffinityTerm(&t.PodAffinityTerm, p.Child("podAffinityTerm"))...)
}

func podAffinityTerm(t *corev1.PodAffinityTerm, p *field.Path) field.ErrorList {
	errs := concat(labelSelector(t.LabelSelector, p.Child("labelSelector")),
		labelSelector(t.NamespaceSelector, p.Child("namespaceSelector")))
	for _, ns := range t.Namespaces {
		errs = append(errs, named(ns, p.Child("namespace"), apivalidation.ValidateNamespaceName)...)
	}
	return concat(errs,
		labelKeys(t.MatchLabelKeys, t.LabelSelector, p.Child("matchLabelKeys")),
		labelKeys(t.MismatchLabelKeys, t.LabelSelector, p.Child("mismatchLabelKeys")),
		repeatedLabelKeys(t, p),
		refuse(t.TopologyKey == "", field.Required(p.Child("topologyKey"), "can not be empty")),
		metav1validation.ValidateLabelName(t.TopologyKey, p.Child("topologyKey")))
}

func labelKeys(keys []string, s *metav1.LabelSelector, p *field.Path) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if s == nil {
		return field.ErrorList{field.Forbidden(p, "must not be specified when labelSelector is not set")}
	}
	return each(keys, p, func(key *string, p *field.Path) field.ErrorList {
		return metav1validation.ValidateLabelName(*key, p)
	})
}

// repeatedLabelKeys refuses a key given twice. The server itself has added one
// requirement for each matchLabelKey to the selector; a second one is the user's.
func repeatedLabelKeys(t *corev1.PodAffinityTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.LabelSelector != nil {
		index := map[string]int{}
		for i, key := range t.MatchLabelKeys {
			index[key] = i
		}
		seen := sets.KeySet(t.LabelSelector.MatchLabels)
		for _, r := range t.LabelSelector.MatchExpressions {
			if i, ok := index[r.Key]; ok && seen.Has(r.Key) {
				errs = append(errs, field.Invalid(p.Index(i), r.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen.Insert(r.Key)
		}
	}
	mismatch := sets.New(t.MismatchLabelKeys...)
	for i, key := range t.MatchLabelKeys {
		errs = append(errs, refuse(mismatch.Has(key),
			field.Invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))...)
	}
	return errs
}

func tolerations(list []corev1.Toleration, p *field.Path) field.ErrorList {
	return each(list, p, func(t *corev1.Toleration, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		if t.Key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(t.Key, p.Child("key"))...)
		}
		operator, effect := p.Child("operator"), p.Child("effect")
		errs = append(errs, concat(
			refuse(t.Key == "" && t.Operator != corev1.TolerationOpExists, field.Invalid(operator, t.Operator,
				"operator must be Exists when `key` is empty, which means \"match all values and all keys\"")),
			refuse(t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute, field.Invalid(effect, t.Effect,
				"effect must be 'NoExecute' when `tolerationSeconds` is set")))...)
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
				errs = append(errs, field.Invalid(operator, t.Value, strings.Join(messages, ";")))
			}
		case corev1.TolerationOpExists:
			errs = append(errs, refuse(t.Value != "", field.Invalid(operator, t.Value, "value must be empty when `operator` is 'Exists'"))...)
		default:
			errs = append(errs, supported(t.Operator, operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)...)
		}
		if t.Effect != "" {
			errs = append(errs, taintEffect(t.Effect, effect)...)
		}
		return errs
	})
}

func taintEffect(e corev1.TaintEffect, p *field.Path) field.ErrorList {
	return oneOf(e, p, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
}
