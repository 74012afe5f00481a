package replicaset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/controllers/runner"
)

// A Source is a kind that keeps pods of a template alive: the ReplicaSet, or
// one whose objects can be looked at as if they were ReplicaSets.
type Source struct {
	Component string
	Kind      schema.GroupVersionKind
	Resource  schema.GroupResource
	Informer  cache.SharedIndexInformer
	// View shows an object of the informer as a ReplicaSet. Both share parts,
	// which must not be changed.
	View func(obj any) *appsv1.ReplicaSet
	// Get and UpdateStatus make requests.
	Get          func(ctx context.Context, namespace, name string) (*appsv1.ReplicaSet, error)
	UpdateStatus func(ctx context.Context, set *appsv1.ReplicaSet) (*appsv1.ReplicaSet, error)
	// CountsTerminating tells whether the kind's status has terminatingReplicas.
	CountsTerminating bool
}

func replicaSets(env runner.Env) Source {
	client := env.Client.AppsV1()
	return Source{
		Component: "replicaset-controller",
		Kind:      appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		Resource:  appsv1.Resource("replicasets"),
		Informer:  env.Informers.Apps().V1().ReplicaSets().Informer(),
		View:      func(obj any) *appsv1.ReplicaSet { return obj.(*appsv1.ReplicaSet) },
		Get: func(ctx context.Context, namespace, name string) (*appsv1.ReplicaSet, error) {
			return client.ReplicaSets(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		UpdateStatus: func(ctx context.Context, set *appsv1.ReplicaSet) (*appsv1.ReplicaSet, error) {
			return client.ReplicaSets(set.Namespace).UpdateStatus(ctx, set, metav1.UpdateOptions{})
		},
		CountsTerminating: true,
	}
}
