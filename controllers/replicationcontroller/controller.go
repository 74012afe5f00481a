package replicationcontroller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/replicaset"
	"github.com/kubesim/kubesim/controllers/runner"
)

var kind = corev1.SchemeGroupVersion.WithKind("ReplicationController")

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	client := env.Client.CoreV1()
	return replicaset.NewOf(env, replicaset.Source{
		Component: "replication-controller",
		Kind:      kind,
		Resource:  corev1.Resource("replicationcontrollers"),
		Informer:  env.Informers.Core().V1().ReplicationControllers().Informer(),
		View:      func(obj any) *appsv1.ReplicaSet { return view(obj.(*corev1.ReplicationController)) },
		Get: func(ctx context.Context, namespace, name string) (*appsv1.ReplicaSet, error) {
			rc, err := client.ReplicationControllers(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return view(rc), nil
		},
		UpdateStatus: func(ctx context.Context, set *appsv1.ReplicaSet) (*appsv1.ReplicaSet, error) {
			rc, err := client.ReplicationControllers(set.Namespace).UpdateStatus(ctx, original(set), metav1.UpdateOptions{})
			if err != nil {
				return nil, err
			}
			return view(rc), nil
		},
	})
}

// view shows a ReplicationController as a ReplicaSet. The kind stays, so that
// events tell of the ReplicationController.
func view(rc *corev1.ReplicationController) *appsv1.ReplicaSet {
	set := &appsv1.ReplicaSet{
		TypeMeta:   metav1.TypeMeta{Kind: kind.Kind, APIVersion: kind.GroupVersion().String()},
		ObjectMeta: rc.ObjectMeta,
		Spec: appsv1.ReplicaSetSpec{
			Replicas:        rc.Spec.Replicas,
			MinReadySeconds: rc.Spec.MinReadySeconds,
			Selector:        &metav1.LabelSelector{MatchLabels: rc.Spec.Selector},
		},
		Status: appsv1.ReplicaSetStatus{
			Replicas:             rc.Status.Replicas,
			FullyLabeledReplicas: rc.Status.FullyLabeledReplicas,
			ReadyReplicas:        rc.Status.ReadyReplicas,
			AvailableReplicas:    rc.Status.AvailableReplicas,
			ObservedGeneration:   rc.Status.ObservedGeneration,
		},
	}
	if rc.Spec.Template != nil {
		set.Spec.Template = *rc.Spec.Template
	}
	for _, c := range rc.Status.Conditions {
		set.Status.Conditions = append(set.Status.Conditions, appsv1.ReplicaSetCondition{
			Type: appsv1.ReplicaSetConditionType(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime,
		})
	}
	return set
}

// original is the reverse of view.
func original(set *appsv1.ReplicaSet) *corev1.ReplicationController {
	rc := &corev1.ReplicationController{
		ObjectMeta: set.ObjectMeta,
		Spec: corev1.ReplicationControllerSpec{
			Replicas:        set.Spec.Replicas,
			MinReadySeconds: set.Spec.MinReadySeconds,
			Selector:        set.Spec.Selector.MatchLabels,
			Template:        &set.Spec.Template,
		},
		Status: corev1.ReplicationControllerStatus{
			Replicas:             set.Status.Replicas,
			FullyLabeledReplicas: set.Status.FullyLabeledReplicas,
			ReadyReplicas:        set.Status.ReadyReplicas,
			AvailableReplicas:    set.Status.AvailableReplicas,
			ObservedGeneration:   set.Status.ObservedGeneration,
		},
	}
	for _, c := range set.Status.Conditions {
		rc.Status.Conditions = append(rc.Status.Conditions, corev1.ReplicationControllerCondition{
			Type: corev1.ReplicationControllerConditionType(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime,
		})
	}
	return rc
}
