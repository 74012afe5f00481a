package why

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// terminating says what keeps an object that is being deleted.
func (a *Asker) terminating(ctx context.Context, obj *unstructured.Unstructured) (string, error) {
	since := fmt.Sprintf("has been going for %s", a.Now.Sub(obj.GetDeletionTimestamp().Time).Round(time.Second))
	finalizers := obj.GetFinalizers()
	switch {
	case obj.GetKind() == "Namespace":
		return ask(obj, func(n *v1.Namespace) (string, error) { return since + ": " + content(n), nil })
	case obj.GetKind() == "Pod" && len(finalizers) == 0:
		return ask(obj, func(pod *v1.Pod) (string, error) { return a.stopping(ctx, pod) })
	case slices.Contains(finalizers, "kubernetes.io/pvc-protection"):
		return a.usersOf(ctx, obj, since)
	case slices.Contains(finalizers, "kubernetes.io/pv-protection"):
		claim, _, _ := unstructured.NestedString(obj.Object, "spec", "claimRef", "name")
		return fmt.Sprintf("%s: claim %s is bound to it", since, claim), nil
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return a.dependents(ctx, obj, since)
	case len(finalizers) > 0:
		return fmt.Sprintf("%s: it waits for who owns finalizer %s to take it off", since, strings.Join(finalizers, ", ")), nil
	}
	return since + ", and nothing holds it", nil
}

func content(n *v1.Namespace) string {
	var reasons []string
	for _, c := range n.Status.Conditions {
		if c.Status == v1.ConditionTrue {
			reasons = append(reasons, strings.TrimSuffix(c.Message, "."))
		}
	}
	if len(reasons) == 0 {
		return "its content is being deleted"
	}
	return strings.Join(reasons, "; ")
}

// stopping is for a pod whose kubelet has the last word.
func (a *Asker) stopping(ctx context.Context, pod *v1.Pod) (string, error) {
	until := pod.DeletionTimestamp.Time
	if a.Now.Before(until) {
		return fmt.Sprintf("is stopping: its containers on %s have until %s (grace period of %d s)", pod.Spec.NodeName,
			until.Format(time.TimeOnly), ptr.Deref(pod.DeletionGracePeriodSeconds, 0)), nil
	}
	sentence := fmt.Sprintf("should have ended %s ago, which the kubelet of %s has not confirmed", a.Now.Sub(until).Round(time.Second), pod.Spec.NodeName)
	node, err := a.Client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		return sentence + ": " + err.Error(), nil
	}
	if state := nodeState(node); state != nothing {
		return fmt.Sprintf("%s: node %s %s", sentence, node.Name, state), nil
	}
	return sentence, nil
}

// usersOf names the pods that use a claim.
func (a *Asker) usersOf(ctx context.Context, claim *unstructured.Unstructured, since string) (string, error) {
	pods, err := a.Client.CoreV1().Pods(claim.GetNamespace()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	var users []string
	for i := range pods.Items {
		for _, volume := range pods.Items[i].Spec.Volumes {
			if source := volume.PersistentVolumeClaim; source != nil && source.ClaimName == claim.GetName() {
				users = append(users, "pod/"+pods.Items[i].Name)
			}
		}
	}
	if len(users) == 0 {
		return since + ": no pod uses it, so its finalizer kubernetes.io/pvc-protection is about to be taken off", nil
	}
	return fmt.Sprintf("%s: %s uses it", since, strings.Join(users, ", ")), nil
}

// dependents names what must go before the object.
func (a *Asker) dependents(ctx context.Context, owner *unstructured.Unstructured, since string) (string, error) {
	var left []string
	for _, resource := range []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "replicasets"}, {Group: "batch", Version: "v1", Resource: "jobs"},
		{Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "persistentvolumeclaims"},
	} {
		list, err := a.Metadata.Resource(resource).Namespace(owner.GetNamespace()).List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for _, item := range list.Items {
			for _, ref := range item.OwnerReferences {
				if ref.UID == owner.GetUID() && ptr.Deref(ref.BlockOwnerDeletion, false) {
					left = append(left, strings.TrimSuffix(resource.Resource, "s")+"/"+item.Name)
				}
			}
		}
	}
	if len(left) == 0 {
		return since + ": the garbage collector is about to let it go", nil
	}
	return fmt.Sprintf("%s: it is deleted in the foreground, after %s", since, strings.Join(left, ", ")), nil
}
