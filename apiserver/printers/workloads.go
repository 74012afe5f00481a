package printers

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// labelsOf writes labels as a selector.
func labelsOf(m map[string]string) string { return labels.FormatLabels(m) }

func replicationControllerColumns() *Columns {
	spec, status := corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()
	return columns(func(rc *corev1.ReplicationController, now time.Time) []any {
		var in []corev1.Container
		if rc.Spec.Template != nil {
			in = rc.Spec.Template.Spec.Containers
		}
		return []any{
			rc.Name, value(rc.Spec.Replicas, 0), rc.Status.Replicas, rc.Status.ReadyReplicas, ageOf(rc, now),
			namesOf(in), imagesOf(in), labelsOf(rc.Spec.Selector),
		}
	},
		name(), number("Desired", spec["replicas"]), number("Current", status["replicas"]), number("Ready", status["readyReplicas"]),
		age(), containers(), images(), wide(text("Selector", spec["selector"])),
	)
}

func replicaSetColumns() *Columns {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	return columns(func(rs *appsv1.ReplicaSet, now time.Time) []any {
		in := rs.Spec.Template.Spec.Containers
		return []any{
			rs.Name, value(rs.Spec.Replicas, 0), rs.Status.Replicas, rs.Status.ReadyReplicas, ageOf(rs, now),
			namesOf(in), imagesOf(in), metav1.FormatLabelSelector(rs.Spec.Selector),
		}
	},
		name(), number("Desired", spec["replicas"]), number("Current", status["replicas"]), number("Ready", status["readyReplicas"]),
		age(), containers(), images(), wide(text("Selector", spec["selector"])),
	)
}

func deploymentColumns() *Columns {
	spec, status := appsv1.DeploymentSpec{}.SwaggerDoc(), appsv1.DeploymentStatus{}.SwaggerDoc()
	return columns(func(d *appsv1.Deployment, now time.Time) []any {
		in := d.Spec.Template.Spec.Containers
		selector := "<invalid>"
		if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
			selector = s.String()
		}
		return []any{
			d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, value(d.Spec.Replicas, 0)),
			d.Status.UpdatedReplicas, d.Status.AvailableReplicas, ageOf(d, now), namesOf(in), imagesOf(in), selector,
		}
	},
		name(), text("Ready", "Number of the pod with ready state"),
		text("Up-to-date", status["updatedReplicas"]), text("Available", status["availableReplicas"]),
		age(), containers(), images(), wide(text("Selector", spec["selector"])),
	)
}

func statefulSetColumns() *Columns {
	return columns(func(s *appsv1.StatefulSet, now time.Time) []any {
		in := s.Spec.Template.Spec.Containers
		return []any{
			s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, value(s.Spec.Replicas, 0)), ageOf(s, now), namesOf(in), imagesOf(in),
		}
	},
		name(), text("Ready", "Number of the pod with ready state"), age(), containers(), images(),
	)
}

func daemonSetColumns() *Columns {
	spec, status := appsv1.DaemonSetSpec{}.SwaggerDoc(), appsv1.DaemonSetStatus{}.SwaggerDoc()
	return columns(func(d *appsv1.DaemonSet, now time.Time) []any {
		in, s := d.Spec.Template.Spec.Containers, d.Status
		return []any{
			d.Name, s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable,
			labelsOf(d.Spec.Template.Spec.NodeSelector), ageOf(d, now), namesOf(in), imagesOf(in), metav1.FormatLabelSelector(d.Spec.Selector),
		}
	},
		name(), number("Desired", status["desiredNumberScheduled"]), number("Current", status["currentNumberScheduled"]),
		number("Ready", status["numberReady"]), number("Up-to-date", status["updatedNumberScheduled"]),
		number("Available", status["numberAvailable"]), text("Node Selector", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]),
		age(), containers(), images(), wide(text("Selector", spec["selector"])),
	)
}

func controllerRevisionColumns() *Columns {
	return columns(func(r *appsv1.ControllerRevision, now time.Time) []any {
		controller := none
		if ref := metav1.GetControllerOfNoCopy(r); ref != nil {
			group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
			controller = strings.ToLower(group.String()) + "/" + ref.Name
		}
		return []any{r.Name, controller, r.Revision, ageOf(r, now)}
	},
		name(), text("Controller", "Controller of the object"),
		text("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]), age(),
	)
}
