package validation

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// changeableInPod names the fields that an update may touch, as the error lists them.
var changeableInPod = strings.Join([]string{
	"`spec.containers[*].image`",
	"`spec.initContainers[*].image`",
	"`spec.activeDeadlineSeconds`",
	"`spec.tolerations` (only additions to existing tolerations)",
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
}, ",")

// sameValue compares as Kubernetes does: an empty list is no list, quantities by value.
func sameValue(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// difference shows what changed, line by line.
func difference(old, now any) string { return diff.Diff(byFieldName(old), byFieldName(now)) }

func podUpdate(pod, old *corev1.Pod) field.ErrorList {
	p := field.NewPath("spec")
	errs := concat(metaUpdate(&pod.ObjectMeta, &old.ObjectMeta), podObject(pod), annotationUpdates(pod, old))
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{
		{"containers", pod.Spec.Containers, old.Spec.Containers},
		{"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers},
	} {
		at := p.Child(list.name)
		if len(list.now) != len(list.was) {
			return append(errs, field.Forbidden(at, "pod updates may not add or remove containers"))
		}
		errs = append(errs, each(list.now, at, func(ct *corev1.Container, p *field.Path) field.ErrorList {
			return concat(required(ct.Image, p.Child("image")), paddedImage(ct, p))
		})...)
	}
	deadline, stop := deadlineUpdate(pod.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds, p.Child("activeDeadlineSeconds"))
	errs = append(errs, deadline...)
	if stop {
		return errs
	}
	errs = append(errs, concat(
		tolerationsAdded(pod.Spec.Tolerations, old.Spec.Tolerations, p.Child("tolerations")),
		gatesRemoved(pod.Spec.SchedulingGates, old.Spec.SchedulingGates, p.Child("schedulingGates")))...)
	if sameValue(pod.Spec, old.Spec) {
		return errs
	}
	rest := withoutChangeable(pod, old)
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, gatedUpdate(rest, &old.Spec, p)...)
	}
	return append(errs, refuseChange(rest, &old.Spec, p)...)
}

func refuseChange(spec, old *corev1.PodSpec, p *field.Path) field.ErrorList {
	if sameValue(*spec, *old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(p,
		fmt.Sprintf("pod updates may not change fields other than %s\n%v", changeableInPod, difference(*old, *spec)))}
}

// deadlineUpdate lets a deadline be set or come nearer. stop is true where no
// further rule is worth applying.
func deadlineUpdate(now, old *int64, p *field.Path) (errs field.ErrorList, stop bool) {
	switch {
	case now == nil:
		return refuse(old != nil, field.Invalid(p, now, "must not update from a positive integer to nil value")), false
	case *now < 0 || *now > math.MaxInt32:
		return field.ErrorList{field.Invalid(p, *now, validation.InclusiveRangeError(0, math.MaxInt32))}, true
	case old != nil && *old < *now:
		return field.ErrorList{field.Invalid(p, *now, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

func tolerationsAdded(now, old []corev1.Toleration, p *field.Path) field.ErrorList {
	for _, was := range old {
		kept := false
		for _, is := range now {
			was.TolerationSeconds = is.TolerationSeconds // may change
			kept = kept || was == is
		}
		if !kept {
			return field.ErrorList{field.Forbidden(p, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return tolerations(now, p)
}

func gatesRemoved(now, old []corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
	before := sets.New[string]()
	for _, g := range old {
		before.Insert(g.Name)
	}
	return each(now, p, func(g *corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
		return refuse(!before.Has(g.Name), field.Forbidden(p.Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", g.Name)))
	})
}

// withoutChangeable is the new spec with everything that may change put back to
// what it was; the caller has checked those parts.
func withoutChangeable(pod, old *corev1.Pod) *corev1.PodSpec {
	spec := pod.Spec.DeepCopy()
	for i := range spec.Containers {
		spec.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range spec.InitContainers {
		spec.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	spec.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	spec.SchedulingGates = old.Spec.SchedulingGates
	spec.Tolerations = old.Spec.Tolerations
	was, is := old.Spec.TerminationGracePeriodSeconds, spec.TerminationGracePeriodSeconds
	if was != nil && is != nil && *was < 0 && *is == 1 {
		spec.TerminationGracePeriodSeconds = was
	}
	return spec
}

// gatedUpdate lets a pod that waits for its gates narrow down its nodes, and puts
// those fields back in spec.
func gatedUpdate(spec, old *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !sameValue(spec.NodeSelector, old.NodeSelector) {
		for key, value := range old.NodeSelector {
			if is, ok := spec.NodeSelector[key]; !ok || is != value {
				errs = append(errs, field.Invalid(p.Child("nodeSelector"), spec.NodeSelector,
					"only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
				break
			}
		}
		spec.NodeSelector = old.NodeSelector
	}
	now, was := nodeAffinity(spec), nodeAffinity(old)
	if sameValue(now, was) {
		return errs
	}
	errs = append(errs, narrowerAffinity(now, was, p.Child("affinity", "nodeAffinity"))...)
	switch a := spec.Affinity; {
	case a == nil:
		spec.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil:
		spec.Affinity = nil
	default:
		a.NodeAffinity = was
	}
	return errs
}

func nodeAffinity(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity
}

func requiredNodeTerms(a *corev1.NodeAffinity) []corev1.NodeSelectorTerm {
	if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// narrowerAffinity keeps the terms, since they are alternatives, and lets each ask for more.
func narrowerAffinity(now, old *corev1.NodeAffinity, p *field.Path) field.ErrorList {
	p = p.Child(requiredTerms, "nodeSelectorTerms")
	terms, before := requiredNodeTerms(now), requiredNodeTerms(old)
	if len(before) == 0 {
		return nil
	}
	if len(terms) != len(before) {
		return field.ErrorList{field.Invalid(p, byFieldName(terms), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	return each(terms, p, func(t *corev1.NodeSelectorTerm, p *field.Path) field.ErrorList {
		i := 0
		for &terms[i] != t {
			i++
		}
		return refuse(!extends(t, &before[i]), field.Invalid(p, byFieldName(t), "only additions are allowed (no mutations or deletions)"))
	})
}

func extends(t, old *corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions)+len(old.MatchFields) == 0 { // matches nothing, and must go on to
		return len(t.MatchExpressions)+len(t.MatchFields) == 0
	}
	return startsWith(t.MatchExpressions, old.MatchExpressions) && startsWith(t.MatchFields, old.MatchFields)
}

func startsWith(list, start []corev1.NodeSelectorRequirement) bool {
	return len(list) >= len(start) && sameValue(list[:len(start)], start)
}
