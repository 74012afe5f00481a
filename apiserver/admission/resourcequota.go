package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	for _, quota := range quotas {
		if _, err := charged(a, quota, charge); err != nil {
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
		quota := obj.(*corev1.ResourceQuota)
		counted := countedNames(a, quota.Status.Hard)
		if len(counted) == 0 || !inScopes(a, &quota.Spec) {
			continue
		}
		if err := stated(a, counted); err != nil {
			return nil, forbidden(a, fmt.Errorf("failed quota: %s: %w", quota.Name, err))
		}
		if unknown := missing(quota.Status.Used, counted); len(unknown) > 0 {
			return nil, forbidden(a, fmt.Errorf("status unknown for quota: %s, resources: %s", quota.Name, join(counted)))
		}
		if len(mask(charge, quota.Status.Hard)) > 0 {
			quotas = append(quotas, quota)
		}
	}
	return quotas, nil
}

// charged is the usage with the charge added, or the refusal.
func charged(a *Attributes, quota *corev1.ResourceQuota, charge corev1.ResourceList) (corev1.ResourceList, error) {
	requested := mask(charge, quota.Status.Hard)
	used := sum(quota.Status.Used, requested)
	exceeded := corev1.ResourceList{}
	for name := range requested {
		total, hard := used[name], quota.Status.Hard[name]
		if total.Cmp(hard) > 0 {
			exceeded[name] = hard
		}
	}
	if len(exceeded) > 0 {
		return nil, forbidden(a, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			quota.Name, format(mask(requested, exceeded)), format(mask(quota.Status.Used, exceeded)), format(exceeded)))
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
	for i, quota := range quotas {
		err := updater.UpdateStatus(ctx, gvr, a.Namespace, quota.Name, func(obj runtime.Object) error {
			quota := obj.(*corev1.ResourceQuota)
			used, err := charged(a, quota, charge)
			if err == nil {
				quota.Status.Used = used
			}
			return err
		})
		if err == nil {
			continue
		}
		for _, paid := range quotas[:i] {
			// What cannot be given back now the controller gives back later.
			_ = updater.UpdateStatus(ctx, gvr, a.Namespace, paid.Name, func(obj runtime.Object) error {
				quota := obj.(*corev1.ResourceQuota)
				quota.Status.Used = sum(quota.Status.Used, negative(mask(charge, quota.Status.Hard)))
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
	charge := usage(a, a.Object)
	if a.Verb == Update {
		charge = sum(charge, negative(usage(a, a.OldObject)))
	}
	for name, quantity := range charge {
		if quantity.IsZero() {
			delete(charge, name)
		}
	}
	return charge
}
