package deployment

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var now = time.Unix(1_000_000, 0)

// newDeployment is a rolling one of image new; surge and unavailable are such as "25%" or "1".
func newDeployment(replicas int32, surge, unavailable string) *appsv1.Deployment {
	maxSurge, maxUnavailable := intstr.Parse(surge), intstr.Parse(unavailable)
	deadline := int32(600)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "web", Generation: 1},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, ProgressDeadlineSeconds: &deadline,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: templateOf("new"),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &maxSurge, MaxUnavailable: &maxUnavailable},
			},
		},
	}
}

func templateOf(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

// set is a ReplicaSet "image size/available", such as "old 3/2".
func set(age time.Duration, text string) *appsv1.ReplicaSet {
	image, sizes, _ := strings.Cut(text, " ")
	var size, available int32
	fmt.Sscanf(sizes, "%d/%d", &size, &available)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: image, Namespace: "default", UID: types.UID(image), CreationTimestamp: metav1.NewTime(now.Add(-age)), Annotations: map[string]string{}},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &size, Template: templateOf(image)},
		Status:     appsv1.ReplicaSetStatus{Replicas: size, ReadyReplicas: available, AvailableReplicas: available},
	}
}

// familyOf makes a family of ReplicaSets, the oldest first. Their annotations
// say that they were last scaled for wanted replicas and at most most pods.
func familyOf(d *appsv1.Deployment, wanted, most int, sets ...string) *family {
	var all []*appsv1.ReplicaSet
	for i, text := range sets {
		s := set(time.Duration(len(sets)-i)*time.Hour, text)
		s.Annotations[desiredReplicas], s.Annotations[maxReplicas] = strconv.Itoa(wanted), strconv.Itoa(most)
		all = append(all, s)
	}
	f := newFamily(d, all)
	return &f
}

// words writes changes as "old to 2, new to 3".
func words(changes []change) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s to %d", c.set.Name, c.to))
	}
	return strings.Join(all, ", ")
}
