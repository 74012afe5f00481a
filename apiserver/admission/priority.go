package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Priority turns the name of a pod's priority class into the number that the
// scheduler goes by.
type Priority struct{ lister Lister }

// Name of the plugin.
func (*Priority) Name() string { return "Priority" }

// Admit resolves the class of a new pod. On an update it keeps what the client
// left out, since both fields are the server's.
func (p *Priority) Admit(ctx context.Context, a *Attributes) error {
	if !a.is(group("", "pods")) {
		return nil
	}
	switch a.Verb {
	case Create:
		return p.resolve(ctx, a, &a.Object.(*corev1.Pod).Spec)
	case Update:
		spec, old := &a.Object.(*corev1.Pod).Spec, &a.OldObject.(*corev1.Pod).Spec
		if spec.Priority == nil {
			spec.Priority = old.Priority
		}
		if spec.PreemptionPolicy == nil {
			spec.PreemptionPolicy = old.PreemptionPolicy
		}
	}
	return nil
}

func (p *Priority) resolve(ctx context.Context, a *Attributes, spec *corev1.PodSpec) error {
	class, err := p.class(ctx, spec.PriorityClassName)
	if apierrors.IsNotFound(err) {
		return forbidden(a, fmt.Errorf("no PriorityClass with name %v was found", spec.PriorityClassName))
	}
	if err != nil {
		return err
	}
	if spec.Priority != nil && *spec.Priority != class.Value {
		return forbidden(a, fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *spec.Priority, class.Value))
	}
	value := class.Value
	spec.PriorityClassName, spec.Priority = class.Name, &value
	if class.PreemptionPolicy == nil {
		return nil
	}
	policy := *class.PreemptionPolicy
	if spec.PreemptionPolicy != nil && *spec.PreemptionPolicy != policy {
		return forbidden(a, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *spec.PreemptionPolicy, policy))
	}
	spec.PreemptionPolicy = &policy
	return nil
}

// class by name. Without a name it is the global default, else a nameless class of zero.
func (p *Priority) class(ctx context.Context, name string) (*schedulingv1.PriorityClass, error) {
	gvr := schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")
	if name != "" {
		obj, err := p.lister.Get(ctx, gvr, "", name)
		if err != nil {
			return nil, err
		}
		return obj.(*schedulingv1.PriorityClass), nil
	}
	class, err := p.defaultClass(ctx)
	if err != nil || class != nil {
		return class, err
	}
	policy := corev1.PreemptLowerPriority
	return &schedulingv1.PriorityClass{PreemptionPolicy: &policy}, nil
}

// defaultClass is the global default of the lowest value, should there be several.
func (p *Priority) defaultClass(ctx context.Context) (*schedulingv1.PriorityClass, error) {
	objs, err := p.lister.List(ctx, schedulingv1.SchemeGroupVersion.WithResource("priorityclasses"), "")
	if err != nil {
		return nil, fmt.Errorf("failed to get default priority class: %w", err)
	}
	var lowest *schedulingv1.PriorityClass
	for _, obj := range objs {
		class := obj.(*schedulingv1.PriorityClass)
		if class.GlobalDefault && (lowest == nil || class.Value < lowest.Value) {
			lowest = class
		}
	}
	return lowest, nil
}

// Validate refuses a second global default.
func (p *Priority) Validate(ctx context.Context, a *Attributes) error {
	if (a.Verb != Create && a.Verb != Update) || !a.is(group("scheduling.k8s.io", "priorityclasses")) {
		return nil
	}
	class := a.Object.(*schedulingv1.PriorityClass)
	if !class.GlobalDefault {
		return nil
	}
	current, err := p.defaultClass(ctx)
	if err != nil {
		return err
	}
	if current != nil && (a.Verb == Create || current.Name != class.Name) {
		return forbidden(a, fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", current.Name))
	}
	return nil
}

// SystemPriorityClasses are there from the start, above what users may name, for
// the pods that the cluster itself depends on.
func SystemPriorityClasses() []*schedulingv1.PriorityClass {
	class := func(name string, value int32, description string) *schedulingv1.PriorityClass {
		policy := corev1.PreemptLowerPriority
		return &schedulingv1.PriorityClass{
			ObjectMeta:       metav1.ObjectMeta{Name: name},
			Value:            value,
			Description:      description,
			PreemptionPolicy: &policy,
		}
	}
	return []*schedulingv1.PriorityClass{
		class("system-node-critical", 2000001000, "Used for system critical pods that must not be moved from their current node."),
		class("system-cluster-critical", 2000000000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}
