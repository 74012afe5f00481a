package validation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxPolicyRules      = 20
	maxPolicyConditions = 20
	maxExitCodes        = 255
	maxIndexesText      = 64 << 10
)

// podFailurePolicy holds the rules about what to do with pods that failed.
func podFailurePolicy(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	at, rules := p.Child("rules"), s.PodFailurePolicy.Rules
	names := sets.New[string]()
	for _, ct := range s.Template.Spec.Containers {
		names.Insert(ct.Name)
	}
	for _, ct := range s.Template.Spec.InitContainers {
		names.Insert(ct.Name)
	}
	return append(refuse(len(rules) > maxPolicyRules, field.TooMany(at, len(rules), maxPolicyRules)),
		each(rules, at, func(r *batchv1.PodFailurePolicyRule, p *field.Path) field.ErrorList {
			return failureRule(s, r, names, p)
		})...)
}

func failureRule(s *batchv1.JobSpec, r *batchv1.PodFailurePolicyRule, names sets.Set[string], p *field.Path) field.ErrorList {
	action := p.Child("action")
	errs := listed(r.Action, action, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore)
	errs = append(errs, refuse(r.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil,
		field.Invalid(action, r.Action, "requires the backoffLimitPerIndex to be set"))...)
	if r.OnExitCodes != nil {
		errs = append(errs, exitCodes(r.OnExitCodes, names, p.Child("onExitCodes"))...)
	}
	at, conditions := p.Child("onPodConditions"), r.OnPodConditions
	errs = append(errs, refuse(len(conditions) > maxPolicyConditions, field.TooMany(at, len(conditions), maxPolicyConditions))...)
	errs = append(errs, each(conditions, at, func(c *batchv1.PodFailurePolicyOnPodConditionsPattern, p *field.Path) field.ErrorList {
		return append(qualifiedName(string(c.Type), p.Child("type")),
			listed(c.Status, p.Child("status"), corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)...)
	})...)
	both, none := r.OnExitCodes != nil && len(conditions) > 0, r.OnExitCodes == nil && len(conditions) == 0
	return concat(errs,
		refuse(both, field.Invalid(p, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")),
		refuse(none, field.Invalid(p, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")))
}

// listed is oneOf whose error about a missing value names the choices.
func listed[T ~string](value T, p *field.Path, allowed ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, fmt.Sprintf("valid values: %q", allowed))}
	}
	return supported(value, p, allowed...)
}

func exitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, names sets.Set[string], p *field.Path) field.ErrorList {
	errs := listed(r.Operator, p.Child("operator"), batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if name := r.ContainerName; name != nil {
		errs = append(errs, refuse(!names.Has(*name), field.Invalid(p.Child("containerName"), *name,
			"must be one of the container or initContainer names in the pod template"))...)
	}
	at := p.Child("values")
	if n := len(r.Values); n == 0 {
		errs = append(errs, field.Invalid(at, r.Values, "at least one value is required"))
	} else if n > maxExitCodes {
		errs = append(errs, field.TooMany(at, n, maxExitCodes))
	}
	seen := sets.New[int32]()
	errs = append(errs, each(r.Values, at, func(v *int32, p *field.Path) field.ErrorList {
		errs := concat(
			refuse(r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && *v == 0, field.Invalid(p, *v, "must not be 0 for the In operator")),
			refuse(seen.Has(*v), field.Duplicate(p, *v)))
		seen.Insert(*v)
		return errs
	})...)
	return append(errs, refuse(!slices.IsSorted(r.Values), field.Invalid(at, r.Values, "must be ordered"))...)
}

// successPolicy holds the rules about when an indexed job is done early.
func successPolicy(s *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if !indexed(s) {
		return field.ErrorList{field.Invalid(p, byFieldName(s.SuccessPolicy), needsIndexes)}
	}
	at, rules := p.Child("rules"), s.SuccessPolicy.Rules
	completions := int32(orZero(s.Completions))
	return concat(
		refuse(len(rules) == 0, field.Required(at, "at least one rules must be specified when the successPolicy is specified")),
		refuse(len(rules) > maxPolicyRules, field.TooMany(at, len(rules), maxPolicyRules)),
		each(rules, at, func(r *batchv1.SuccessPolicyRule, p *field.Path) field.ErrorList {
			return successRule(r, completions, p)
		}))
}

func successRule(r *batchv1.SuccessPolicyRule, completions int32, p *field.Path) field.ErrorList {
	errs := refuse(r.SucceededCount == nil && r.SucceededIndexes == nil,
		field.Required(p, "at least one of succeededCount or succeededIndexes must be specified"))
	var total int32
	if text := r.SucceededIndexes; text != nil {
		at := p.Child("succeededIndexes")
		errs = append(errs, refuse(len(*text) > maxIndexesText, field.TooLong(at, "", maxIndexesText))...)
		n, err := countIndexes(*text, completions)
		if err != nil {
			errs = append(errs, field.Invalid(at, *text, "error parsing succeededIndexes: "+err.Error()))
		}
		total = n
	}
	if r.SucceededCount == nil {
		return errs
	}
	count, at := *r.SucceededCount, p.Child("succeededCount")
	return concat(errs, nonNegative(count, at),
		refuse(count > completions, field.Invalid(at, count,
			fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))),
		refuse(r.SucceededIndexes != nil && count > total, field.Invalid(at, count,
			fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))))
}

// countIndexes counts the indexes in a text like 1,3-5, which must rise.
func countIndexes(text string, completions int32) (int32, error) {
	if text == "" {
		return 0, nil
	}
	var total int32
	last := int32(-1)
	for interval := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(interval, "-")
		if strings.Contains(to, "-") {
			return 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", interval)
		}
		start, err := parseIndex(from, completions)
		if err != nil {
			return 0, err
		}
		if start <= last {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, start)
		}
		end := start
		if ranged {
			if end, err = parseIndex(to, completions); err != nil {
				return 0, err
			}
			if end <= start {
				return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", start, end)
			}
		}
		total += end - start + 1
		last = end
	}
	return total, nil
}

func parseIndex(text string, completions int32) (int32, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	}
	if n < 0 || n >= int(completions) {
		return 0, errors.New("too large index: \"" + text + "\"")
	}
	return int32(n), nil
}
