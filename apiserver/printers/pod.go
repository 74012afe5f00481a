package printers

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// nodeLost is the reason of a pod whose node does not answer.
const nodeLost = "NodeLost"

func podColumns() *Columns {
	spec, status := corev1.PodSpec{}.SwaggerDoc(), corev1.PodStatus{}.SwaggerDoc()
	c := columns(podCells,
		name(),
		text("Ready", "The aggregate readiness state of this pod for accepting traffic."),
		text("Status", "The aggregate status of the containers in this pod."),
		text("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
		age(),
		wide(text("IP", status["podIP"])),
		wide(text("Node", spec["nodeName"])),
		wide(text("Nominated Node", status["nominatedNodeName"])),
		wide(text("Readiness Gates", spec["readinessGates"])),
	)
	c.Conditions = podConditions
	return c
}

func podCells(pod *corev1.Pod, now time.Time) []any {
	s := summarize(pod)
	restarts := strconv.Itoa(s.restarts)
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		restarts = fmt.Sprintf("%d (%s ago)", s.restarts, since(s.lastRestart, now))
	}
	ip := ""
	if len(pod.Status.PodIPs) > 0 {
		ip = pod.Status.PodIPs[0].IP
	}
	return []any{
		pod.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.status, restarts, ageOf(pod, now),
		or(ip, none), or(pod.Spec.NodeName, none), or(pod.Status.NominatedNodeName, none), readinessGates(pod),
	}
}

func readinessGates(pod *corev1.Pod) string {
	gates := pod.Spec.ReadinessGates
	if len(gates) == 0 {
		return none
	}
	met := 0
	for _, gate := range gates {
		if conditionIs(pod, gate.ConditionType, corev1.ConditionTrue) {
			met++
		}
	}
	return fmt.Sprintf("%d/%d", met, len(gates))
}

// conditionIs looks at the first condition of a type.
func conditionIs(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status == status
		}
	}
	return false
}

// podConditions mark the rows of pods that have ended.
func podConditions(obj runtime.Object) []metav1.TableRowCondition {
	completed := func(message string) []metav1.TableRowCondition {
		phase := obj.(*corev1.Pod).Status.Phase
		return []metav1.TableRowCondition{{
			Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(phase), Message: message,
		}}
	}
	switch obj.(*corev1.Pod).Status.Phase {
	case corev1.PodSucceeded:
		return completed("The pod has completed successfully.")
	case corev1.PodFailed:
		return completed("The pod failed.")
	}
	return nil
}

func podTemplateColumns() *Columns {
	return columns(func(t *corev1.PodTemplate, _ time.Time) []any {
		in := t.Template.Spec.Containers
		return []any{t.Name, namesOf(in), imagesOf(in), labelsOf(t.Template.Labels)}
	},
		name(),
		text("Containers", "Names of each container in the template."),
		text("Images", "Images referenced by each container in the template."),
		text("Pod Labels", "The labels for the pod template."),
	)
}
