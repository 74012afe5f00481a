package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func core() []Kind {
	return in("", "v1",
		Kind{Kind: "Binding", Resource: "bindings", Namespaced: true, Verbs: []string{"create"}},
		Kind{Kind: "ComponentStatus", Deprecated: "v1 ComponentStatus is deprecated in v1.19+", Resource: "componentstatuses", ShortNames: []string{"cs"}, Verbs: []string{"get", "list"}},
		Kind{Kind: "ConfigMap", Resource: "configmaps", Namespaced: true, ShortNames: []string{"cm"}},
		Kind{Kind: "Endpoints", Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice", Resource: "endpoints", Namespaced: true, ShortNames: []string{"ep"}, CreateOnUpdate: true},
		coreEvent(),
		Kind{Kind: "LimitRange", Resource: "limitranges", Namespaced: true, ShortNames: []string{"limits"}, CreateOnUpdate: true},
		Kind{
			Kind: "Namespace", Resource: "namespaces", ShortNames: []string{"ns"}, Fields: fields("status.phase"), ReturnDeleted: true,
			Verbs:        []string{"create", "delete", "get", "list", "patch", "update", "watch"},
			Subresources: []Subresource{{Name: "finalize", Verbs: []string{"update"}}, status()},
		},
		Kind{
			Kind: "Node", Resource: "nodes", ShortNames: []string{"no"}, Fields: []Field{flag("spec.unschedulable")},
			Subresources: []Subresource{sub("proxy", "NodeProxyOptions", proxied()...), status()},
		},
		Kind{
			Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims", Namespaced: true, ShortNames: []string{"pvc"},
			Subresources: []Subresource{status()}, ReturnDeleted: true,
		},
		Kind{
			Kind: "PersistentVolume", Resource: "persistentvolumes", ShortNames: []string{"pv"},
			Subresources: []Subresource{status()}, ReturnDeleted: true,
		},
		pod(),
		Kind{Kind: "PodTemplate", Resource: "podtemplates", Namespaced: true, Generation: true, ReturnDeleted: true},
		Kind{
			Kind: "ReplicationController", Resource: "replicationcontrollers", Namespaced: true,
			ShortNames: []string{"rc"}, Categories: []string{"all"}, Fields: []Field{count("status.replicas")},
			Subresources: []Subresource{scale(), status()}, Scale: replicationControllerScale(),
			Generation: true, OrphanByDefault: true,
		},
		Kind{
			Kind: "ResourceQuota", Resource: "resourcequotas", Namespaced: true, ShortNames: []string{"quota"},
			Subresources: []Subresource{status()}, ReturnDeleted: true,
		},
		Kind{Kind: "Secret", Resource: "secrets", Namespaced: true, Fields: fields("type")},
		Kind{
			Kind: "ServiceAccount", Resource: "serviceaccounts", Namespaced: true, ShortNames: []string{"sa"},
			Subresources: []Subresource{{
				Name: "token", Verbs: []string{"create"},
				Kind: schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
			}},
			ConditionalUpdate: true, ReturnDeleted: true,
		},
		Kind{
			Kind: "Service", Resource: "services", Namespaced: true, ShortNames: []string{"svc"}, Categories: []string{"all"},
			Fields:         fields("spec.clusterIP", "spec.type"),
			Subresources:   []Subresource{sub("proxy", "ServiceProxyOptions", proxied()...), status()},
			CreateOnUpdate: true, ReturnDeleted: true,
		},
	)
}

func pod() Kind {
	return Kind{
		Kind: "Pod", Resource: "pods", Namespaced: true, ShortNames: []string{"po"}, Categories: []string{"all"},
		Fields: append(fields("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
			"status.phase", "status.podIP", "status.nominatedNodeName"), flag("spec.hostNetwork")),
		Subresources: []Subresource{
			sub("attach", "PodAttachOptions", "create", "get"),
			sub("binding", "Binding", "create"),
			{Name: "ephemeralcontainers", Verbs: rewritable()},
			{
				Name: "eviction", Verbs: []string{"create"},
				Kind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"},
			},
			sub("exec", "PodExecOptions", "create", "get"),
			{Name: "log", Verbs: []string{"get"}},
			sub("portforward", "PodPortForwardOptions", "create", "get"),
			sub("proxy", "PodProxyOptions", proxied()...),
			{Name: "resize", Verbs: rewritable()},
			status(),
		},
		Generation: true, ReturnDeleted: true,
	}
}

func replicationControllerScale() *Scale {
	return &Scale{
		Get: func(obj runtime.Object) ScaleValues {
			rc := obj.(*corev1.ReplicationController)
			return ScaleValues{
				Replicas: valueOf(rc.Spec.Replicas), StatusReplicas: rc.Status.Replicas,
				Selector: labels.Set(rc.Spec.Selector).String(),
			}
		},
		Set: func(obj runtime.Object, replicas int32) {
			obj.(*corev1.ReplicationController).Spec.Replicas = &replicas
		},
	}
}

// valueOf is what a pointer leads to, zero for none.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
