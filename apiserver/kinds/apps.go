package kinds

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func apps() []Kind {
	return in("apps", "v1",
		Kind{Kind: "ControllerRevision", Resource: "controllerrevisions", Namespaced: true},
		Kind{
			Kind: "DaemonSet", Resource: "daemonsets", Namespaced: true, ShortNames: []string{"ds"}, Categories: []string{"all"},
			Subresources: []Subresource{status()}, Generation: true, DerivedAnnotation: appsv1.DeprecatedTemplateGeneration,
		},
		Kind{
			Kind: "Deployment", Resource: "deployments", Namespaced: true, ShortNames: []string{"deploy"}, Categories: []string{"all"},
			Subresources: []Subresource{scale(), status()}, Scale: deploymentScale(), Generation: true,
		},
		Kind{
			Kind: "ReplicaSet", Resource: "replicasets", Namespaced: true, ShortNames: []string{"rs"}, Categories: []string{"all"},
			Fields:       []Field{count("status.replicas")},
			Subresources: []Subresource{scale(), status()}, Scale: replicaSetScale(), Generation: true,
		},
		Kind{
			Kind: "StatefulSet", Resource: "statefulsets", Namespaced: true, ShortNames: []string{"sts"}, Categories: []string{"all"},
			Subresources: []Subresource{scale(), status()}, Scale: statefulSetScale(), Generation: true,
		},
	)
}

func deploymentScale() *Scale {
	return &Scale{
		Get: func(obj runtime.Object) ScaleValues {
			d := obj.(*appsv1.Deployment)
			return scaleValues(d.Spec.Replicas, d.Status.Replicas, d.Spec.Selector)
		},
		Set: func(obj runtime.Object, replicas int32) { obj.(*appsv1.Deployment).Spec.Replicas = &replicas },
	}
}

func replicaSetScale() *Scale {
	return &Scale{
		Get: func(obj runtime.Object) ScaleValues {
			rs := obj.(*appsv1.ReplicaSet)
			return scaleValues(rs.Spec.Replicas, rs.Status.Replicas, rs.Spec.Selector)
		},
		Set: func(obj runtime.Object, replicas int32) { obj.(*appsv1.ReplicaSet).Spec.Replicas = &replicas },
	}
}

func statefulSetScale() *Scale {
	return &Scale{
		Get: func(obj runtime.Object) ScaleValues {
			ss := obj.(*appsv1.StatefulSet)
			return scaleValues(ss.Spec.Replicas, ss.Status.Replicas, ss.Spec.Selector)
		},
		Set: func(obj runtime.Object, replicas int32) { obj.(*appsv1.StatefulSet).Spec.Replicas = &replicas },
	}
}

func scaleValues(spec *int32, status int32, selector *metav1.LabelSelector) ScaleValues {
	values := ScaleValues{Replicas: valueOf(spec), StatusReplicas: status}
	// A stored selector was validated; one that does not parse shows as none.
	if s, err := metav1.LabelSelectorAsSelector(selector); err == nil {
		values.Selector = s.String()
	}
	return values
}
