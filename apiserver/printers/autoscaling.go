package printers

import (
	"fmt"
	"strconv"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func horizontalPodAutoscalerColumns() *Columns {
	spec, status := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc(), autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
	return columns(func(h *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
		least := unset
		if h.Spec.MinReplicas != nil {
			least = strconv.Itoa(int(*h.Spec.MinReplicas))
		}
		return []any{
			h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, metrics(h), least,
			h.Spec.MaxReplicas, h.Status.CurrentReplicas, ageOf(h, now),
		}
	},
		name(), text("Reference", spec["scaleTargetRef"]), text("Targets", spec["metrics"]), text("MinPods", spec["minReplicas"]),
		text("MaxPods", spec["maxReplicas"]), text("Replicas", status["currentReplicas"]), age(),
	)
}

// metricsShown is how many metrics the Targets cell shows.
const metricsShown = 2

func metrics(h *autoscalingv2.HorizontalPodAutoscaler) string {
	if len(h.Spec.Metrics) == 0 {
		return none
	}
	shown := make([]string, len(h.Spec.Metrics))
	for i, spec := range h.Spec.Metrics {
		var status autoscalingv2.MetricStatus
		if i < len(h.Status.CurrentMetrics) {
			status = h.Status.CurrentMetrics[i]
		}
		shown[i] = metric(spec, status)
	}
	return clipped(shown, metricsShown, ", ")
}

// metric writes current over target.
func metric(spec autoscalingv2.MetricSpec, status autoscalingv2.MetricStatus) string {
	var current *autoscalingv2.MetricValueStatus
	switch {
	case spec.Type == autoscalingv2.ExternalMetricSourceType && spec.External != nil:
		if status.External != nil {
			current = &status.External.Current
		}
		return valueOrAverage(spec.External.Target, current)
	case spec.Type == autoscalingv2.ObjectMetricSourceType && spec.Object != nil:
		if status.Object != nil {
			current = &status.Object.Current
		}
		return valueOrAverage(spec.Object.Target, current)
	case spec.Type == autoscalingv2.PodsMetricSourceType && spec.Pods != nil:
		if status.Pods != nil {
			current = &status.Pods.Current
		}
		return average(current) + "/" + quantity(spec.Pods.Target.AverageValue)
	case spec.Type == autoscalingv2.ResourceMetricSourceType && spec.Resource != nil:
		if status.Resource != nil {
			current = &status.Resource.Current
		}
		return string(spec.Resource.Name) + ": " + averageOrUtilization(spec.Resource.Target, current)
	case spec.Type == autoscalingv2.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
		return string(spec.ContainerResource.Name) + ": " + averageOrUtilization(spec.ContainerResource.Target, current)
	}
	return "<unknown type>"
}

func valueOrAverage(target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return average(current) + "/" + quantity(target.AverageValue) + " (avg)"
	}
	now := unknown
	if current != nil {
		now = quantity(current.Value)
	}
	return now + "/" + quantity(target.Value)
}

func averageOrUtilization(target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return average(current) + "/" + quantity(target.AverageValue)
	}
	now := unknown
	if current != nil && current.AverageUtilization != nil {
		now = percent(current.AverageUtilization)
	}
	wanted := "<auto>"
	if target.AverageUtilization != nil {
		wanted = percent(target.AverageUtilization)
	}
	return now + "/" + wanted
}

func average(current *autoscalingv2.MetricValueStatus) string {
	if current == nil || current.AverageValue == nil {
		return unknown
	}
	return current.AverageValue.String()
}

// quantity writes a quantity; one that is not there reads as it does in Go.
func quantity(q *resource.Quantity) string {
	if q == nil {
		return "<nil>"
	}
	return q.String()
}

func percent(n *int32) string { return fmt.Sprintf("%d%%", *n) }

func podDisruptionBudgetColumns() *Columns {
	return columns(func(b *policyv1.PodDisruptionBudget, now time.Time) []any {
		least, most := "N/A", "N/A"
		if b.Spec.MinAvailable != nil {
			least = b.Spec.MinAvailable.String()
		}
		if b.Spec.MaxUnavailable != nil {
			most = b.Spec.MaxUnavailable.String()
		}
		return []any{b.Name, least, most, b.Status.DisruptionsAllowed, ageOf(b, now)}
	},
		name(), text("Min Available", "The minimum number of pods that must be available."),
		text("Max Unavailable", "The maximum number of pods that may be unavailable."),
		number("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."), age(),
	)
}

func scaleColumns() *Columns {
	return columns(func(s *autoscalingv1.Scale, now time.Time) []any {
		return []any{s.Name, s.Spec.Replicas, s.Status.Replicas, ageOf(s, now)}
	},
		text("Name", name().Description), number("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		number("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]), age(),
	)
}
