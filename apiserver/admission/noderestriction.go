package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	nodeUserPrefix = "system:node:"
	nodesGroup     = "system:nodes"
)

// NodeRestriction lets a kubelet write only what is its own: its Node, its Lease,
// its CSINode, and the pods that are bound to it.
type NodeRestriction struct{ lister Lister }

// Name implements Plugin.
func (*NodeRestriction) Name() string { return "NodeRestriction" }

// nodeOf is the node that a user is, if it is one.
func nodeOf(user authenticationv1.UserInfo) (string, bool) {
	name, ok := strings.CutPrefix(user.Username, nodeUserPrefix)
	return name, ok && slices.Contains(user.Groups, nodesGroup)
}

// Validate refuses what another node, or no node, may write.
func (p *NodeRestriction) Validate(ctx context.Context, a *Attributes) error {
	node, ok := nodeOf(a.User)
	if !ok {
		if slices.Contains(a.User.Groups, nodesGroup) {
			return forbidden(a, fmt.Errorf("could not determine node from user %q", a.User.Username))
		}
		return nil
	}
	var err error
	switch a.GVR.GroupResource() {
	case group("", "pods"):
		err = p.pod(ctx, node, a)
	case group("", "nodes"):
		err = p.node(node, a)
	case group("", "serviceaccounts"):
		err = p.token(ctx, node, a)
	case group("coordination.k8s.io", "leases"):
		err = p.lease(node, a)
	case group("storage.k8s.io", "csinodes"):
		err = p.csiNode(node, a)
	}
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return err
	}
	return forbidden(a, err)
}

// pod lets a kubelet make mirror pods of its own, delete and evict its pods, and
// report their status.
func (p *NodeRestriction) pod(ctx context.Context, node string, a *Attributes) error {
	switch {
	case a.Subresource == "" && a.Verb == Create:
		return p.mirrorPod(node, a)
	case a.Subresource == "" && a.Verb == Delete, a.Subresource == "status" && a.Verb == Update:
		pod, ok := a.OldObject.(*corev1.Pod)
		if !ok {
			return fmt.Errorf("unexpected type %T", a.OldObject)
		}
		if pod.Spec.NodeName != node {
			if a.Verb == Delete {
				return fmt.Errorf("node %q can only delete pods with spec.nodeName set to itself", node)
			}
			return fmt.Errorf("node %q can only update pod status for pods with spec.nodeName set to itself", node)
		}
		if a.Verb == Update {
			if changed, ok := a.Object.(*corev1.Pod); ok && !reflect.DeepEqual(changed.Labels, pod.Labels) {
				return fmt.Errorf("node %q cannot update labels through pod status", node)
			}
		}
		return nil
	case a.Subresource == "eviction" && a.Verb == Create:
		name := a.Name
		if eviction, ok := a.Object.(*policyv1.Eviction); ok && name == "" {
			name = eviction.Name
		}
		obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("pods"), a.Namespace, name)
		if err != nil {
			return err
		}
		if pod, ok := obj.(*corev1.Pod); !ok || pod.Spec.NodeName != node {
			return fmt.Errorf("node %s can only evict pods with spec.nodeName set to itself", node)
		}
		return nil
	}
	return fmt.Errorf("unexpected operation %q, node %q can only create and delete mirror pods", a.Verb, node)
}

func (p *NodeRestriction) mirrorPod(node string, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("unexpected type %T", a.Object)
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; !mirror {
		return fmt.Errorf("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, node)
	}
	if pod.Spec.NodeName != node {
		return fmt.Errorf("node %q can only create pods with spec.nodeName set to itself", node)
	}
	if len(pod.OwnerReferences) > 1 || len(pod.OwnerReferences) == 1 && (pod.OwnerReferences[0].Kind != "Node" || pod.OwnerReferences[0].Name != node) {
		return fmt.Errorf("node %q can only create pods with a single owner reference set to itself", node)
	}
	if pod.Spec.ServiceAccountName != "" {
		return fmt.Errorf("node %q can not create pods that reference a service account", node)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil || v.ConfigMap != nil || v.PersistentVolumeClaim != nil || v.Projected != nil {
			return fmt.Errorf("node %q can not create pods that reference secrets, configmaps, persistentvolumeclaims or projected volumes", node)
		}
	}
	return nil
}

// node lets a kubelet register and report itself, without touching its taints
// and the labels that others rely on.
func (p *NodeRestriction) node(node string, a *Attributes) error {
	name := a.Name
	if m, ok := a.Object.(*corev1.Node); ok && name == "" {
		name = m.Name
	}
	if name != node {
		return fmt.Errorf("node %q is not allowed to modify node %q", node, name)
	}
	object, _ := a.Object.(*corev1.Node)
	old, _ := a.OldObject.(*corev1.Node)
	switch a.Verb {
	case Create:
		if object != nil && object.Spec.ConfigSource != nil {
			return fmt.Errorf("node %q is not allowed to create pods with a non-nil configSource", node)
		}
		if bad := forbiddenLabels(nil, object.Labels); len(bad) > 0 {
			return fmt.Errorf("node %q is not allowed to set the following labels: %s", node, strings.Join(bad, ", "))
		}
	case Update:
		if !reflect.DeepEqual(object.OwnerReferences, old.OwnerReferences) {
			return fmt.Errorf("node %q is not allowed to modify ownerReferences", node)
		}
		if !reflect.DeepEqual(object.Spec.Taints, old.Spec.Taints) {
			return fmt.Errorf("node %q is not allowed to modify taints", node)
		}
		if bad := forbiddenLabels(old.Labels, object.Labels); len(bad) > 0 {
			return fmt.Errorf("is not allowed to modify labels: %s", strings.Join(bad, ", "))
		}
	}
	return nil
}

// kubeletLabels are those of Kubernetes' own domains that a kubelet may set on itself.
var kubeletLabels = []string{
	corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	corev1.LabelInstanceType, corev1.LabelInstanceTypeStable, corev1.LabelOSStable, corev1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
}

// forbiddenLabels are the changed labels that a kubelet may not change.
func forbiddenLabels(old, now map[string]string) []string {
	var bad []string
	for key := range changedKeys(old, now) {
		domain, _, qualified := strings.Cut(key, "/")
		within := func(suffix string) bool { return domain == suffix || strings.HasSuffix(domain, "."+suffix) }
		switch {
		case !qualified || !within("kubernetes.io") && !within("k8s.io"):
		case within("node-restriction.kubernetes.io"):
			bad = append(bad, key)
		case within("kubelet.kubernetes.io"), within("node.kubernetes.io"), slices.Contains(kubeletLabels, key):
		default:
			bad = append(bad, key)
		}
	}
	slices.Sort(bad)
	return bad
}

func changedKeys(old, now map[string]string) map[string]bool {
	changed := map[string]bool{}
	for key := range maps.Keys(old) {
		if value, ok := now[key]; !ok || value != old[key] {
			changed[key] = true
		}
	}
	for key := range maps.Keys(now) {
		if value, ok := old[key]; !ok || value != now[key] {
			changed[key] = true
		}
	}
	return changed
}

// token lets a kubelet ask for tokens that end with a pod of its own.
func (p *NodeRestriction) token(ctx context.Context, node string, a *Attributes) error {
	if a.Subresource != "token" || a.Verb != Create {
		return nil
	}
	wish, ok := a.Object.(*authenticationv1.TokenRequest)
	if !ok {
		return fmt.Errorf("unexpected type %T", a.Object)
	}
	ref := wish.Spec.BoundObjectRef
	if ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "" {
		return errors.New("node requested token not bound to a pod")
	}
	if ref.UID == "" {
		return errors.New("node requested token with a pod binding without a uid")
	}
	obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("pods"), a.Namespace, ref.Name)
	if err != nil {
		return err
	}
	pod, ok := obj.(*corev1.Pod)
	switch {
	case !ok || pod.UID != ref.UID:
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, ref.Name, errors.New("the UID in the bound object reference does not match"))
	case pod.Spec.NodeName != node:
		return errors.New("node requested token bound to a pod scheduled on a different node")
	}
	return nil
}

func (p *NodeRestriction) lease(node string, a *Attributes) error {
	if a.Namespace != corev1.NamespaceNodeLease {
		return fmt.Errorf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
	}
	name := a.Name
	if lease, ok := a.Object.(*coordinationv1.Lease); ok && name == "" {
		name = lease.Name
	}
	if name != node {
		return errors.New("can only access node lease with the same name as the requesting node")
	}
	return nil
}

func (p *NodeRestriction) csiNode(node string, a *Attributes) error {
	name := a.Name
	if csi, ok := a.Object.(*storagev1.CSINode); ok && name == "" {
		name = csi.Name
	}
	if name != node {
		return errors.New("can only access CSINode with the same name as the requesting node")
	}
	return nil
}
