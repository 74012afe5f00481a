package apiserver

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/rbac"
)

const (
	nodeUserPrefix = "system:node:"
	nodesGroup     = "system:nodes"
)

var readVerbs = []string{"get", "list", "watch"}

// nodeAllows is the Node authorizer: a kubelet may do what the role system:node
// says, but reads Secrets, ConfigMaps, claims and volumes only if a pod that is
// bound to its node needs them, and other nodes not at all.
func (s *Server) nodeAllows(a *rbac.Attributes) (allowed bool, reason string) {
	node, ok := strings.CutPrefix(a.User.Username, nodeUserPrefix)
	if !ok || node == "" || !slices.Contains(a.User.Groups, nodesGroup) || a.Path != "" {
		return false, ""
	}
	switch (schema.GroupResource{Group: a.Group, Resource: a.Resource}) {
	case corev1.Resource("secrets"), corev1.Resource("configmaps"):
		return s.nodeReads(node, a, readVerbs, func(pod *corev1.Pod) bool { return podMentions(pod, a.Resource, a.Name) })
	case corev1.Resource("persistentvolumeclaims"):
		verbs := []string{"get"}
		if a.Subresource == "status" {
			verbs = []string{"get", "update", "patch"}
		}
		return s.nodeReads(node, a, verbs, func(pod *corev1.Pod) bool { return podMentions(pod, a.Resource, a.Name) })
	case corev1.Resource("persistentvolumes"):
		return s.nodeReads(node, a, []string{"get"}, func(pod *corev1.Pod) bool { return s.podUsesVolume(pod, a.Name) })
	case storagev1.Resource("volumeattachments"):
		return s.nodeReadsAttachment(node, a)
	case corev1.Resource("serviceaccounts"):
		if a.Subresource != "token" || a.Verb != "create" {
			return false, "can only create tokens for individual service accounts"
		}
		return s.related(node, a, func(pod *corev1.Pod) bool {
			return pod.Namespace == a.Namespace && pod.Spec.ServiceAccountName == a.Name
		})
	case corev1.Resource("nodes"):
		if a.Verb == "get" && a.Name != node || slices.Contains(readVerbs[1:], a.Verb) && a.Name != node {
			return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", node, a.Name)
		}
	case corev1.Resource("pods"):
		if a.Verb == "get" && a.Subresource == "" {
			return s.related(node, a, func(pod *corev1.Pod) bool { return pod.Namespace == a.Namespace && pod.Name == a.Name })
		}
		if slices.Contains(readVerbs[1:], a.Verb) && a.Fields["spec.nodeName"] != node {
			return false, "can only list/watch pods with spec.nodeName field selector"
		}
	case schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}:
		if a.Namespace != corev1.NamespaceNodeLease || a.Verb != "create" && a.Name != node {
			return false, "can only access node lease with the same name as the requesting node"
		}
	case storagev1.Resource("csinodes"):
		if a.Verb != "create" && a.Name != node {
			return false, "can only access CSINode with the same name as the requesting node"
		}
	}
	return rbac.RoleAllows("system:node", a), ""
}

func (s *Server) nodeReads(node string, a *rbac.Attributes, verbs []string, needs func(*corev1.Pod) bool) (bool, string) {
	switch {
	case !slices.Contains(verbs, a.Verb):
		return false, "can only " + strings.Join(verbs, ", ") + " individual resources of this type"
	case a.Name == "":
		return false, "can only read resources of this type with a name"
	}
	return s.related(node, a, needs)
}

// related tells whether one of the node's pods needs what is asked for.
func (s *Server) related(node string, a *rbac.Attributes, needs func(*corev1.Pod) bool) (bool, string) {
	for _, pod := range s.podsOf(node) {
		if (a.Namespace == "" || pod.Namespace == a.Namespace) && needs(pod) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
}

// podsOf are the pods bound to a node, as the cache has them.
func (s *Server) podsOf(node string) []*corev1.Pod {
	res := s.table.get("", "v1", "pods")
	var out []*corev1.Pod
	s.cache.Resource(res.prefix).Snapshot().Each(res.prefix, "", func(e *cache.Entry) bool {
		if e.Field("spec.nodeName") == node {
			if pod, err := decodeCached[*corev1.Pod](s, res, e); err == nil {
				out = append(out, pod)
			}
		}
		return true
	})
	return out
}

// nodeReadsAttachment lets a kubelet read the attachments to its node.
func (s *Server) nodeReadsAttachment(node string, a *rbac.Attributes) (bool, string) {
	if a.Verb != "get" {
		return false, "can only get individual resources of this type"
	}
	res := s.table.get(storagev1.GroupName, "v1", "volumeattachments")
	if e := s.cache.Resource(res.prefix).Get(res.key("", a.Name)); e != nil {
		if v, err := decodeCached[*storagev1.VolumeAttachment](s, res, e); err == nil && v.Spec.NodeName == node {
			return true, ""
		}
	}
	return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
}

// podUsesVolume tells whether a volume is bound to one of the pod's claims.
func (s *Server) podUsesVolume(pod *corev1.Pod, volume string) bool {
	res := s.table.get("", "v1", "persistentvolumes")
	e := s.cache.Resource(res.prefix).Get(res.key("", volume))
	if e == nil {
		return false
	}
	v, err := decodeCached[*corev1.PersistentVolume](s, res, e)
	if err != nil || v.Spec.ClaimRef == nil {
		return false
	}
	return v.Spec.ClaimRef.Namespace == pod.Namespace && podMentions(pod, "persistentvolumeclaims", v.Spec.ClaimRef.Name)
}

// podMentions tells whether the pod needs an object of its namespace to run.
func podMentions(pod *corev1.Pod, resource, name string) bool {
	m := &mention{resource, name}
	for _, ref := range pod.Spec.ImagePullSecrets {
		if m.is("secrets", ref.Name) {
			return true
		}
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return m.inVolume(pod, &v) }) ||
		slices.ContainsFunc(pod.Spec.InitContainers, m.inContainer) || slices.ContainsFunc(pod.Spec.Containers, m.inContainer) ||
		slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
			return m.inContainer(corev1.Container(c.EphemeralContainerCommon))
		})
}

// mention is the object that is looked for in a pod.
type mention struct{ resource, name string }

func (m *mention) is(resource, name string) bool { return m.resource == resource && m.name == name }

func (m *mention) inContainer(c corev1.Container) bool {
	for _, from := range c.EnvFrom {
		if from.SecretRef != nil && m.is("secrets", from.SecretRef.Name) || from.ConfigMapRef != nil && m.is("configmaps", from.ConfigMapRef.Name) {
			return true
		}
	}
	for _, env := range c.Env {
		from := env.ValueFrom
		if from != nil && (from.SecretKeyRef != nil && m.is("secrets", from.SecretKeyRef.Name) || from.ConfigMapKeyRef != nil && m.is("configmaps", from.ConfigMapKeyRef.Name)) {
			return true
		}
	}
	return false
}

func (m *mention) inVolume(pod *corev1.Pod, v *corev1.Volume) bool {
	switch {
	case v.Secret != nil:
		return m.is("secrets", v.Secret.SecretName)
	case v.ConfigMap != nil:
		return m.is("configmaps", v.ConfigMap.Name)
	case v.PersistentVolumeClaim != nil:
		return m.is("persistentvolumeclaims", v.PersistentVolumeClaim.ClaimName)
	case v.Ephemeral != nil:
		return m.is("persistentvolumeclaims", pod.Name+"-"+v.Name)
	case v.CSI != nil:
		return v.CSI.NodePublishSecretRef != nil && m.is("secrets", v.CSI.NodePublishSecretRef.Name)
	case v.Projected != nil:
		return slices.ContainsFunc(v.Projected.Sources, func(p corev1.VolumeProjection) bool {
			return p.Secret != nil && m.is("secrets", p.Secret.Name) || p.ConfigMap != nil && m.is("configmaps", p.ConfigMap.Name)
		})
	}
	return false
}
