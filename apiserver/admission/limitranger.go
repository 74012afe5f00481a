package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	resources "k8s.io/component-helpers/resource"
)

const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// LimitRanger holds pods and claims to the LimitRanges of their namespace.
type LimitRanger struct{ lister Lister }

// Name of the plugin.
func (*LimitRanger) Name() string { return "LimitRanger" }

// Admit gives containers the default requests and limits.
func (p *LimitRanger) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	limits, err := p.limits(ctx, a.Namespace)
	if err != nil {
		return err
	}
	for _, limit := range limits {
		fillResources(a.Object.(*corev1.Pod), limit)
	}
	return nil
}

// Validate refuses what is below minimum or above maximum, all faults at once.
func (p *LimitRanger) Validate(ctx context.Context, a *Attributes) error {
	isPod := a.Verb == Create && a.is(group("", "pods"))
	isClaim := (a.Verb == Create || a.Verb == Update) && a.is(group("", "persistentvolumeclaims"))
	if !isPod && !isClaim || isDeleted(a) {
		return nil
	}
	limits, err := p.limits(ctx, a.Namespace)
	if err != nil {
		return err
	}
	for _, limit := range limits {
		var faults []error
		for i := range limit.Spec.Limits {
			if isPod {
				faults = append(faults, checkPod(a.Object.(*corev1.Pod), &limit.Spec.Limits[i])...)
			} else {
				faults = append(faults, checkClaim(a.Object.(*corev1.PersistentVolumeClaim), &limit.Spec.Limits[i])...)
			}
		}
		if err := utilerrors.NewAggregate(faults); err != nil {
			return forbidden(a, err)
		}
	}
	return nil
}

// limits of the namespace, by name.
func (p *LimitRanger) limits(ctx context.Context, namespace string) ([]*corev1.LimitRange, error) {
	objs, err := p.lister.List(ctx, corev1.SchemeGroupVersion.WithResource("limitranges"), namespace)
	if err != nil {
		return nil, fmt.Errorf("listing limit ranges: %w", err)
	}
	limits := make([]*corev1.LimitRange, 0, len(objs))
	for _, obj := range objs {
		limits = append(limits, obj.(*corev1.LimitRange))
	}
	slices.SortFunc(limits, func(a, b *corev1.LimitRange) int { return strings.Compare(a.Name, b.Name) })
	return limits, nil
}

// isDeleted is true for an object that only waits for its finalizers.
func isDeleted(a *Attributes) bool {
	if a.OldObject == nil {
		return false
	}
	m, err := meta.Accessor(a.OldObject)
	return err == nil && m.GetDeletionTimestamp() != nil
}

// fillResources notes in an annotation what it set.
func fillResources(pod *corev1.Pod, limit *corev1.LimitRange) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range limit.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			maps.Copy(requests, item.DefaultRequest)
			maps.Copy(limits, item.Default)
		}
	}
	var notes []string
	for i := range pod.Spec.Containers {
		notes = append(notes, fillContainer(&pod.Spec.Containers[i], "container", requests, limits)...)
	}
	for i := range pod.Spec.InitContainers {
		notes = append(notes, fillContainer(&pod.Spec.InitContainers[i], "init container", requests, limits)...)
	}
	if len(notes) == 0 {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(notes, "; ")
}

func fillContainer(c *corev1.Container, what string, requests, limits corev1.ResourceList) []string {
	var notes []string
	if set := addMissing(&c.Resources.Requests, requests); len(set) > 0 {
		notes = append(notes, fmt.Sprintf("%s request for %s %s", strings.Join(set, ", "), what, c.Name))
	}
	if set := addMissing(&c.Resources.Limits, limits); len(set) > 0 {
		notes = append(notes, fmt.Sprintf("%s limit for %s %s", strings.Join(set, ", "), what, c.Name))
	}
	return notes
}

// addMissing names in order the resources that it added.
func addMissing(list *corev1.ResourceList, from corev1.ResourceList) []string {
	var added []string
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, ok := (*list)[name]; ok {
			continue
		}
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = from[name].DeepCopy()
		added = append(added, string(name))
	}
	return added
}

func checkPod(pod *corev1.Pod, item *corev1.LimitRangeItem) []error {
	var faults []error
	switch item.Type {
	case corev1.LimitTypeContainer:
		for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range containers {
				r := containers[i].Resources
				faults = append(faults, checkLimits(item, r.Requests, r.Limits)...)
			}
		}
	case corev1.LimitTypePod:
		sum := resources.PodResourcesOptions{ExcludeOverhead: true}
		faults = checkLimits(item, resources.PodRequests(pod, sum), resources.PodLimits(pod, sum))
	}
	return faults
}

func checkClaim(claim *corev1.PersistentVolumeClaim, item *corev1.LimitRangeItem) []error {
	if item.Type != corev1.LimitTypePersistentVolumeClaim {
		return nil
	}
	var faults []error
	requests := claim.Spec.Resources.Requests
	for _, name := range slices.Sorted(maps.Keys(item.Min)) {
		faults = append(faults, minimum(item, name, requests, nil))
	}
	for _, name := range slices.Sorted(maps.Keys(item.Max)) {
		faults = append(faults, maximumRequest(item, name, requests))
	}
	return faults
}
