package validation

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const appArmorPrefix = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix

// podAnnotations checks the annotations that mean something to Kubernetes.
func podAnnotations(annotations map[string]string, spec *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if value, mirror := annotations[corev1.MirrorPodAnnotationKey]; mirror && spec.NodeName == "" {
		errs = append(errs, field.Invalid(p.Key(corev1.MirrorPodAnnotationKey), value, "must set spec.nodeName if mirror pod annotation is set"))
	}
	if value := annotations[corev1.TolerationsAnnotationKey]; value != "" {
		var list []corev1.Toleration
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			errs = append(errs, field.Invalid(p, corev1.TolerationsAnnotationKey, err.Error()))
		} else {
			errs = append(errs, tolerations(list, p.Child(corev1.TolerationsAnnotationKey))...)
		}
	}
	if value, ok := annotations[corev1.PodDeletionCost]; ok && !deletionCost(value) {
		errs = append(errs, field.Invalid(p.Key(corev1.PodDeletionCost), value, "must be a 32bit integer"))
	}
	return concat(errs, seccompAnnotations(annotations, p), appArmorAnnotations(annotations, spec, p))
}

// deletionCost says whether a cost is one that the ReplicaSet controller would
// print itself: no leading plus sign or zero.
func deletionCost(value string) bool {
	n, err := strconv.ParseInt(value, 10, 32)
	return err == nil && strconv.FormatInt(n, 10) == value
}

func seccompAnnotations(annotations map[string]string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if value, ok := annotations[corev1.SeccompPodAnnotationKey]; ok {
		errs = seccompAnnotation(value, p.Child(corev1.SeccompPodAnnotationKey))
	}
	for _, key := range annotationKeys(annotations, corev1.SeccompContainerAnnotationKeyPrefix) {
		errs = append(errs, seccompAnnotation(annotations[key], p.Child(key))...)
	}
	return errs
}

func seccompAnnotation(value string, p *field.Path) field.ErrorList {
	switch value {
	case corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault, corev1.SeccompProfileNameUnconfined:
		return nil
	}
	if name, local := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix); local {
		return descendingPath(name, p)
	}
	return field.ErrorList{field.Invalid(p, value, "must be a valid seccomp profile")}
}

func appArmorAnnotations(annotations map[string]string, spec *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range annotationKeys(annotations, appArmorPrefix) {
		name, value := strings.TrimPrefix(key, appArmorPrefix), annotations[key]
		found := false
		eachContainer(spec, field.NewPath("spec"), func(ct *corev1.Container, _ *field.Path) { found = found || ct.Name == name })
		errs = append(errs, refuse(!found, field.Invalid(p.Key(key), name, "container not found"))...)
		known := value == "" || value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault ||
			value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined || strings.HasPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
		errs = append(errs, refuse(!known, field.Invalid(p.Key(key), value, "invalid AppArmor profile name: "+strconv.Quote(value)))...)
	}
	return errs
}

// annotationUpdates keeps AppArmor and mirror pod annotations as they were, and
// checks the others again.
func annotationUpdates(pod, old *corev1.Pod) field.ErrorList {
	p := field.NewPath("metadata", "annotations")
	var errs field.ErrorList
	for _, key := range sortedKeys(old.Annotations) {
		if value, kept := pod.Annotations[key]; kept && value == old.Annotations[key] {
			continue
		}
		errs = append(errs, frozenAnnotation(key, "may not remove or update", p)...)
	}
	for _, key := range sortedKeys(pod.Annotations) {
		if _, there := old.Annotations[key]; !there {
			errs = append(errs, frozenAnnotation(key, "may not add", p)...)
		}
	}
	return append(errs, podAnnotations(pod.Annotations, &pod.Spec, p)...)
}

func frozenAnnotation(key, verb string, p *field.Path) field.ErrorList {
	return concat(
		refuse(strings.HasPrefix(key, appArmorPrefix), field.Forbidden(p.Key(key), verb+" AppArmor annotations")),
		refuse(key == corev1.MirrorPodAnnotationKey, field.Forbidden(p.Key(key), verb+" mirror pod annotation")))
}
