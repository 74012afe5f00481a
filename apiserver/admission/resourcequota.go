package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubesim/kubesim/quota"
)

// ResourceQuota holds a namespace to its quotas. It charges what a new object
// uses to status.used before the object is stored; a controller gives back what
// is deleted, or was charged in vain.
//
// Two requests cannot overshoot a quota together: charging is a compare-and-swap
// that looks at the hard limit again each time.
type ResourceQuota struct{ lister Lister }

// Name of the plugin.
func (*ResourceQuota) Name() string { return "ResourceQuota" }

// Validate checks all quotas before it charges any, so that a refusal mostly
// costs nothing. It comes last: nobody refuses what has been charged.
func (p *ResourceQuota) Validate(ctx context.Context, a *Attributes) error {
	if a.Namespace == "" || a.Subresource != "" || (a.Verb != Create && a.Verb != Update) {
		return nil
	}
	objs, err := p.lister.List(ctx, corev1.SchemeGroupVersion.WithResource("resourcequotas"), a.Namespace)
	if err != nil || len(objs) == 0 {
		return err
	}
	charge := demand(a)
	quotas, err := p.concerned(a, objs, charge)
	if err != nil {
		return err
	}
	for _, q := range quotas {
		if _, err := charged(a, q, charge); err != nil {
			return err
		}
	}
	return p.charge(ctx, a, quotas, charge)
}

// concerned are the quotas that count any of this, by name. They must all know
// their usage, and the object must state what they count.
func (p *ResourceQuota) concerned(a *Attributes, objs []runtime.Object, charge corev1.ResourceList) ([]*corev1.ResourceQuota, error) {
	byName := func(a, b runtime.Object) int {
		return strings.Compare(a.(*corev1.ResourceQuota).Name, b.(*corev1.ResourceQuota).Name)
	}
	var quotas []*corev1.ResourceQuota
	for _, obj := range slices.SortedFunc(slices.Values(objs), byName) {
		q := obj.(*corev1.ResourceQuota)
		counted := counted(a, q.Status.Hard)
		if len(counted) == 0 || !quota.InScopes(a.Object, &q.Spec) {
			continue
		}
		if err := stated(a, counted); err != nil {
			return nil, forbidden(a, fmt.Errorf("failed quota: %s: %w", q.Name, err))
		}
		if unknown := quota.Missing(q.Status.Used, counted); len(unknown) > 0 {
			return nil, forbidden(a, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, quota.Join(counted)))
		}
		if len(quota.Mask(charge, q.Status.Hard)) > 0 {
			quotas = append(quotas, q)
		}
	}
	return quotas, nil
}

// charged is the usage with the charge added, or the refusal.
func charged(a *Attributes, q *corev1.ResourceQuota, charge corev1.ResourceList) (corev1.ResourceList, error) {
	requested := quota.Mask(charge, q.Status.Hard)
	used := quota.Sum(q.Status.Used, requested)
	exceeded := corev1.ResourceList{}
	for name := range requested {
		total, hard := used[name], q.Status.Hard[name]
		if total.Cmp(hard) > 0 {
			exceeded[name] = hard
		}
	}
	if len(exceeded) > 0 {
		return nil, forbidden(a, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			q.Name, quota.Format(quota.Mask(requested, exceeded)), quota.Format(quota.Mask(q.Status.Used, exceeded)), quota.Format(exceeded)))
	}
	return used, nil
}

// charge writes the usage to each quota. If one is used up by now, those before
// it get theirs back.
func (p *ResourceQuota) charge(ctx context.Context, a *Attributes, quotas []*corev1.ResourceQuota, charge corev1.ResourceList) error {
	updater, ok := p.lister.(Updater)
	if !ok || a.DryRun {
		return nil
	}
	gvr := corev1.SchemeGroupVersion.WithResource("resourcequotas")
	for i, q := range quotas {
		err := updater.UpdateStatus(ctx, gvr, a.Namespace, q.Name, func(obj runtime.Object) error {
			q := obj.(*corev1.ResourceQuota)
			used, err := charged(a, q, charge)
			if err == nil {
				q.Status.Used = used
			}
			return err
		})
		if err == nil {
			continue
		}
		for _, paid := range quotas[:i] {
			// What cannot be given back now the controller gives back later.
			_ = updater.UpdateStatus(ctx, gvr, a.Namespace, paid.Name, func(obj runtime.Object) error {
				q := obj.(*corev1.ResourceQuota)
				q.Status.Used = quota.Sum(q.Status.Used, quota.Negative(quota.Mask(charge, q.Status.Hard)))
				return nil
			})
		}
		return err
	}
	return nil
}

// demand is what the write adds to the usage of its namespace. Updates that use
// less cost nothing.
func demand(a *Attributes) corev1.ResourceList {
	charge := quota.Usage(a.GVR.GroupResource(), a.Object)
	if a.Verb == Update {
		charge = quota.Sum(charge, quota.Negative(quota.Usage(a.GVR.GroupResource(), a.OldObject)))
	}
	for name, quantity := range charge {
		if quantity.IsZero() {
			delete(charge, name)
		}
	}
	return charge
}

// counted are the resources of a quota that the write may use more of: a
// Service or a claim also when it is changed.
func counted(a *Attributes, hard corev1.ResourceList) []corev1.ResourceName {
	switch a.Object.(type) {
	case *corev1.Service, *corev1.PersistentVolumeClaim:
	default:
		if a.Verb != Create {
			return nil
		}
	}
	return quota.Counted(a.GVR.GroupResource(), hard)
}

// stated refuses a pod with containers that do not state what a quota counts:
// their use would be unbounded.
func stated(a *Attributes, counted []corev1.ResourceName) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok {
		return nil
	}
	silent := map[corev1.ResourceName]sets.Set[string]{}
	if r := pod.Spec.Resources; r != nil {
		counted = quota.Missing(quota.Compute(r.Requests, r.Limits), counted) // stated for all of them
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			has := quota.Compute(containers[i].Resources.Requests, containers[i].Resources.Limits)
			for _, name := range quota.Missing(has, counted) {
				if mustState(name) {
					silent[name] = silent[name].Union(sets.New(containers[i].Name))
				}
			}
		}
	}
	if len(silent) == 0 {
		return nil
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		faults = append(faults, fmt.Sprintf("%s for: %s", name, strings.Join(sets.List(silent[name]), ",")))
	}
	return fmt.Errorf("must specify %s", strings.Join(faults, "; "))
}

func mustState(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
		return true
	}
	return false
}
