package kinds

import (
	"encoding/json"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What autoscaling/v1 has no fields for travels in annotations, as JSON in v1's own types.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
)

// defaultCPUUtilization is what an autoscaling/v1 object without any metric means, in percent.
const defaultCPUUtilization = 80

// horizontalPodAutoscalerV1 leads from autoscaling/v1 to the stored v2 and back.
// autoscaling/v1 knows one metric, the CPU utilization; further ones are in annotations.
func horizontalPodAutoscalerV1() *Conversion {
	return &Conversion{
		Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers",
		To:   func(obj runtime.Object) runtime.Object { return hpaToV2(obj.(*autoscalingv1.HorizontalPodAutoscaler)) },
		From: func(obj runtime.Object) runtime.Object { return hpaToV1(obj.(*autoscalingv2.HorizontalPodAutoscaler)) },
	}
}

func hpaToV2(in *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	out := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
			CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
		},
	}
	if target := in.Spec.TargetCPUUtilizationPercentage; target != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuMetric(*target))
	}
	if current := in.Status.CurrentCPUUtilizationPercentage; current != nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{
				Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: current},
			},
		}}
	}
	readAnnotations(in.Annotations, out)
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultCPUUtilization)}
	}
	out.Annotations = withoutConverted(in.Annotations)
	return out
}

func cpuMetric(utilization int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
		},
	}
}

// readAnnotations fills in what the annotations of a v1 object hold. One that
// does not parse counts for nothing, as on a real server.
func readAnnotations(annotations map[string]string, out *autoscalingv2.HorizontalPodAutoscaler) {
	var metrics []autoscalingv1.MetricSpec
	if fromAnnotation(annotations, metricsAnnotation, &metrics) {
		for _, m := range metrics {
			out.Spec.Metrics = append(out.Spec.Metrics, metricToV2(m))
		}
	}
	var behavior scalingBehavior
	if fromAnnotation(annotations, behaviorAnnotation, &behavior) {
		out.Spec.Behavior = behavior.toV2()
	}
	var current []autoscalingv1.MetricStatus
	if fromAnnotation(annotations, currentMetricsAnnotation, &current) {
		out.Status.CurrentMetrics = nil // what the annotation says is more
		for _, m := range current {
			out.Status.CurrentMetrics = append(out.Status.CurrentMetrics, metricStatusToV2(m))
		}
	}
	fromAnnotation(annotations, conditionsAnnotation, &out.Status.Conditions)
}

func fromAnnotation(annotations map[string]string, key string, into any) bool {
	text, ok := annotations[key]
	return ok && json.Unmarshal([]byte(text), into) == nil
}

func withoutConverted(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	for _, key := range []string{metricsAnnotation, behaviorAnnotation, currentMetricsAnnotation, conditionsAnnotation} {
		delete(out, key)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func hpaToV1(in *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv1.HorizontalPodAutoscaler {
	out := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
			CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
		},
	}
	var others []autoscalingv1.MetricSpec
	for _, m := range in.Spec.Metrics {
		if isCPU(m) && out.Spec.TargetCPUUtilizationPercentage == nil {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
			continue
		}
		others = append(others, metricToV1(m))
	}
	var current []autoscalingv1.MetricStatus
	for _, m := range in.Status.CurrentMetrics {
		if r := m.Resource; r != nil && r.Name == corev1.ResourceCPU && r.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = r.Current.AverageUtilization
		}
		current = append(current, metricStatusToV1(m))
	}
	out.Annotations = withoutConverted(in.Annotations)
	annotate(out, metricsAnnotation, others, len(others) > 0)
	annotate(out, behaviorAnnotation, behaviorOf(in.Spec.Behavior), in.Spec.Behavior != nil)
	annotate(out, currentMetricsAnnotation, current, len(current) > 0)
	annotate(out, conditionsAnnotation, in.Status.Conditions, len(in.Status.Conditions) > 0)
	return out
}

// isCPU tells the metric that autoscaling/v1 has a field for.
func isCPU(m autoscalingv2.MetricSpec) bool {
	return m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

func annotate(out *autoscalingv1.HorizontalPodAutoscaler, key string, value any, present bool) {
	if !present {
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		return // a value that has no JSON form has no annotation either
	}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[key] = string(text)
}

// dropStatus keeps clients from writing the status through the annotations that
// carry it: it has a subresource of its own.
func dropStatus(obj, old *autoscalingv1.HorizontalPodAutoscaler) {
	for _, key := range []string{currentMetricsAnnotation, conditionsAnnotation} {
		delete(obj.Annotations, key)
		if old == nil {
			continue
		}
		if kept, ok := old.Annotations[key]; ok {
			if obj.Annotations == nil {
				obj.Annotations = map[string]string{}
			}
			obj.Annotations[key] = kept
		}
	}
}
