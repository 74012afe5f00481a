package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodResize holds the rules of a write to pods/resize: cpu and memory of main
// containers and sidecars may change, not go away, and keep the QoS class.
func PodResize(pod, old *corev1.Pod) field.ErrorList {
	root, p := field.NewPath(""), field.NewPath("spec")
	if _, static := old.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return field.ErrorList{field.Forbidden(root, "static pods cannot be resized")}
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(root, "windows pods cannot be resized")}
	}
	errs := concat(metaUpdate(&pod.ObjectMeta, &old.ObjectMeta), podObject(pod))
	if !sameShape(pod, old) {
		return append(errs, field.Forbidden(p, onlyComputeChanges))
	}
	errs = append(errs, concat(
		refuse(qosClass(pod) != statedQOS(old), field.Invalid(p, pod.Status.QOSClass, "Pod QOS Class may not change as a result of resizing")),
		refuse(!nodeResizes(old), field.Forbidden(p, "Pod running on node without support for resize")))...)
	for i := range old.Spec.InitContainers {
		if isSidecar(&old.Spec.InitContainers[i]) {
			errs = append(errs, removedResources(&pod.Spec.InitContainers[i].Resources, &old.Spec.InitContainers[i].Resources,
				p.Child("initContainers").Index(i).Child("resources"))...)
		}
	}
	for i := range old.Spec.Containers {
		errs = append(errs, removedResources(&pod.Spec.Containers[i].Resources, &old.Spec.Containers[i].Resources,
			p.Child("containers").Index(i).Child("resources"))...)
	}
	return append(errs, otherChanges(pod, old, p, len(errs) > 0)...)
}

const onlyComputeChanges = "only cpu and memory resources are mutable"

func sameShape(pod, old *corev1.Pod) bool {
	return len(pod.Spec.Containers) == len(old.Spec.Containers) && len(pod.Spec.InitContainers) == len(old.Spec.InitContainers)
}

// nodeResizes looks at whether the kubelet reports the resources of what runs;
// before anything runs nobody can know.
func nodeResizes(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running != nil {
			return s.Resources != nil
		}
	}
	return true
}

func removedResources(now, old *corev1.ResourceRequirements, p *field.Path) field.ErrorList {
	removed := func(now, old corev1.ResourceList) bool {
		for name := range old {
			if _, kept := now[name]; !kept {
				return true
			}
		}
		return false
	}
	return concat(
		refuse(removed(now.Requests, old.Requests), field.Forbidden(p.Child("requests"), "resource requests cannot be removed")),
		refuse(removed(now.Limits, old.Limits), field.Forbidden(p.Child("limits"), "resource limits cannot be removed")))
}

// otherChanges refuses every change beyond cpu and memory.
func otherChanges(pod, old *corev1.Pod, p *field.Path, already bool) field.ErrorList {
	var errs field.ErrorList
	spec := pod.Spec.DeepCopy()
	for i := range spec.Containers {
		was := &old.Spec.Containers[i]
		putComputeBack(&spec.Containers[i].Resources, &was.Resources)
		errs = append(errs, refuse(!sameValue(spec.Containers[i], *was), field.Forbidden(p, onlyComputeChanges))...)
	}
	for i := range spec.InitContainers {
		ct, was := &spec.InitContainers[i], &old.Spec.InitContainers[i]
		reason := "resources for non-sidecar init containers are immutable"
		if isSidecar(ct) {
			putComputeBack(&ct.Resources, &was.Resources)
			reason = "only cpu and memory resources for sidecar containers are mutable"
		}
		errs = append(errs, refuse(!sameValue(*ct, *was), field.Forbidden(p, reason))...)
	}
	if spec.Resources != nil && old.Spec.Resources != nil {
		putComputeBack(spec.Resources, old.Spec.Resources)
	}
	if len(errs) > 0 || already {
		return errs
	}
	return refuse(!sameValue(*spec, old.Spec), field.Forbidden(p, onlyComputeChanges))
}

func putComputeBack(r, old *corev1.ResourceRequirements) {
	back := func(list, old corev1.ResourceList) corev1.ResourceList {
		if old == nil {
			old = corev1.ResourceList{}
		}
		out := corev1.ResourceList{}
		for name, q := range list {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
				out[name] = q
			}
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q, ok := old[name]; ok {
				out[name] = q
			}
		}
		return out
	}
	r.Limits, r.Requests = back(r.Limits, old.Limits), back(r.Requests, old.Requests)
}

func statedQOS(pod *corev1.Pod) corev1.PodQOSClass {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass
	}
	return qosClass(pod)
}

// qosClass computes a pod's quality of service from what it asks for.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	asked, guaranteed := false, true
	weigh := func(r *corev1.ResourceRequirements) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := r.Requests[name], r.Limits[name]
			asked = asked || request.Sign() > 0 || limit.Sign() > 0
			guaranteed = guaranteed && limit.Sign() > 0 && request.Cmp(limit) == 0
		}
	}
	if pod.Spec.Resources != nil && len(pod.Spec.Resources.Requests)+len(pod.Spec.Resources.Limits) > 0 {
		weigh(pod.Spec.Resources)
	} else {
		for i := range pod.Spec.InitContainers {
			weigh(&pod.Spec.InitContainers[i].Resources)
		}
		for i := range pod.Spec.Containers {
			weigh(&pod.Spec.Containers[i].Resources)
		}
	}
	switch {
	case !asked:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
