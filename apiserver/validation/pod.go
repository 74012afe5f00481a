package validation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Pod holds the rules of core/v1 Pods. On update hardly anything in spec may
// change; see podUpdate.
func Pod(pod, old *corev1.Pod) field.ErrorList {
	if old != nil {
		return podUpdate(pod, old)
	}
	p := field.NewPath("spec")
	return concat(podObject(pod),
		refuse(len(pod.Spec.EphemeralContainers) > 0, field.Forbidden(p.Child("ephemeralContainers"), "cannot be set on create")),
		refuse(pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) > 0,
			field.Forbidden(p.Child("nodeName"), "cannot be set until all schedulingGates have been cleared")),
		profilesMatch(&pod.ObjectMeta, &pod.Spec, p))
}

// podObject holds the rules of a pod as it stands, new or changed.
func podObject(pod *corev1.Pod) field.ErrorList {
	p := field.NewPath("spec")
	return concat(
		metaCreate(&pod.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		podAnnotations(pod.Annotations, &pod.Spec, field.NewPath("metadata", "annotations")),
		podSpec(&pod.Spec, &pod.ObjectMeta, p),
		tokensNeedAccount(&pod.Spec, p),
		each(pod.Spec.Containers, p.Child("containers"), paddedImage),
		each(pod.Spec.InitContainers, p.Child("initContainers"), paddedImage))
}

func tokensNeedAccount(spec *corev1.PodSpec, p *field.Path) field.ErrorList {
	if spec.ServiceAccountName != "" {
		return nil
	}
	return each(spec.Volumes, p.Child("volumes"), func(v *corev1.Volume, p *field.Path) field.ErrorList {
		if v.Projected == nil {
			return nil
		}
		return each(v.Projected.Sources, p.Child("projected", "sources"), func(s *corev1.VolumeProjection, p *field.Path) field.ErrorList {
			return refuse(s.ServiceAccountToken != nil,
				field.Forbidden(p.Child("serviceAccountToken"), "must not be specified when serviceAccountName is not set"))
		})
	})
}

// podTemplate holds the rules of a template of pods inside a workload.
func podTemplate(t *corev1.PodTemplateSpec, p *field.Path) field.ErrorList {
	spec := p.Child("spec")
	return concat(
		metav1validation.ValidateLabels(t.Labels, p.Child("labels")),
		apivalidation.ValidateAnnotations(t.Annotations, p.Child("annotations")),
		podAnnotations(t.Annotations, &t.Spec, p.Child("annotations")),
		podSpec(&t.Spec, nil, spec),
		profilesMatch(&t.ObjectMeta, &t.Spec, spec),
		refuse(len(t.Spec.EphemeralContainers) > 0, field.Forbidden(spec.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template")))
}

// PodTemplate holds the rules of core/v1 PodTemplates.
func PodTemplate(t, old *corev1.PodTemplate) field.ErrorList {
	return append(metaEither(&t.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		podTemplate(&t.Template, field.NewPath("template"))...)
}

// PodBinding holds the rules of a write to pods/binding.
func PodBinding(b *corev1.Binding) field.ErrorList {
	target := field.NewPath("target")
	return concat(
		refuse(b.Target.Kind != "" && b.Target.Kind != "Node",
			field.NotSupported(target.Child("kind"), b.Target.Kind, []string{"Node", "<empty>"})),
		required(b.Target.Name, target.Child("name")))
}

// PodEphemeralContainers holds the rules of a write to pods/ephemeralcontainers:
// containers may be added, never changed nor taken away.
func PodEphemeralContainers(pod, old *corev1.Pod) field.ErrorList {
	if _, static := old.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	now := map[string]*corev1.EphemeralContainer{}
	for i := range pod.Spec.EphemeralContainers {
		now[pod.Spec.EphemeralContainers[i].Name] = &pod.Spec.EphemeralContainers[i]
	}
	p := field.NewPath("spec", "ephemeralContainers")
	errs := concat(metaUpdate(&pod.ObjectMeta, &old.ObjectMeta), podObject(pod), annotationUpdates(pod, old))
	for _, was := range old.Spec.EphemeralContainers {
		is, kept := now[was.Name]
		if !kept {
			errs = append(errs, field.Forbidden(p, `existing ephemeral containers "`+was.Name+"\" may not be removed\n"))
		} else if !sameValue(was, *is) {
			errs = append(errs, field.Forbidden(p, `existing ephemeral containers "`+was.Name+"\" may not be changed\n"+difference(was, *is)))
		}
	}
	return errs
}

// profilesMatch checks that the annotations of old agree with the fields that
// took their place, where both are set.
func profilesMatch(meta *metav1.ObjectMeta, spec *corev1.PodSpec, p *field.Path) field.ErrorList {
	pod := spec.SecurityContext
	var errs field.ErrorList
	if annotation, ok := meta.Annotations[corev1.SeccompPodAnnotationKey]; ok && pod != nil && pod.SeccompProfile != nil {
		errs = append(errs, seccompMatches(annotation, pod.SeccompProfile, p.Child("securityContext", "seccompProfile"))...)
	}
	eachContainer(spec, p, func(ct *corev1.Container, p *field.Path) {
		annotation, ok := meta.Annotations[corev1.SeccompContainerAnnotationKeyPrefix+ct.Name]
		if ok && ct.SecurityContext != nil && ct.SecurityContext.SeccompProfile != nil {
			errs = append(errs, seccompMatches(annotation, ct.SecurityContext.SeccompProfile, p.Child("securityContext", "seccompProfile"))...)
		}
	})
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return errs
	}
	eachContainer(spec, p, func(ct *corev1.Container, p *field.Path) {
		var profile *corev1.AppArmorProfile
		if pod != nil {
			profile = pod.AppArmorProfile
		}
		if ct.SecurityContext != nil && ct.SecurityContext.AppArmorProfile != nil {
			profile = ct.SecurityContext.AppArmorProfile
		}
		annotation, ok := meta.Annotations[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+ct.Name]
		if ok && profile != nil {
			errs = append(errs, appArmorMatches(annotation, profile, p.Child("securityContext", "appArmorProfile"))...)
		}
	})
	return errs
}

func seccompMatches(annotation string, s *corev1.SeccompProfile, p *field.Path) field.ErrorList {
	const runtime, docker = corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault
	return profileMatches(string(s.Type), annotation, []string{runtime, docker}, corev1.SeccompProfileNameUnconfined,
		corev1.SeccompLocalhostProfileNamePrefix, s.LocalhostProfile, "seccomp", p)
}

func appArmorMatches(annotation string, a *corev1.AppArmorProfile, p *field.Path) field.ErrorList {
	return profileMatches(string(a.Type), annotation, []string{corev1.DeprecatedAppArmorBetaProfileRuntimeDefault},
		corev1.DeprecatedAppArmorBetaProfileNameUnconfined, corev1.DeprecatedAppArmorBetaProfileNamePrefix, a.LocalhostProfile, "apparmor", p)
}

// profileMatches compares a profile of either sort; their types share their names.
func profileMatches(kind, annotation string, runtime []string, unconfined, prefix string, profile *string, sort string, p *field.Path) field.ErrorList {
	typeError := field.Forbidden(p.Child("type"), sort+" type in annotation and field must match")
	switch kind {
	case string(corev1.SeccompProfileTypeUnconfined):
		return refuse(annotation != unconfined, typeError)
	case string(corev1.SeccompProfileTypeRuntimeDefault):
		return refuse(!slices.Contains(runtime, annotation), typeError)
	case string(corev1.SeccompProfileTypeLocalhost):
		name, local := strings.CutPrefix(annotation, prefix)
		if !local {
			return field.ErrorList{typeError}
		}
		return refuse(profile == nil || name != *profile,
			field.Forbidden(p.Child("localhostProfile"), sort+" profile in annotation and field must match"))
	}
	return nil
}

// annotationKeys are those with the prefix, sorted.
func annotationKeys(annotations map[string]string, prefix string) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for key := range maps.Keys(annotations) {
			if strings.HasPrefix(key, prefix) && !yield(key) {
				return
			}
		}
	})
}
