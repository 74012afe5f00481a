package kinds

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAutoscalerV2SurvivesV1(t *testing.T) {
	quantity := resource.MustParse("500m")
	seconds := int32(60)
	in := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"a": "b"}}}
	in.Spec.MaxReplicas = 4
	in.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(70), {
		Type: autoscalingv2.PodsMetricSourceType,
		Pods: &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "rps"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &quantity},
		},
	}}
	in.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
		StabilizationWindowSeconds: &seconds,
		Policies:                   []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 2, PeriodSeconds: 15}},
	}}
	in.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue}}

	v1 := hpaToV1(in)
	if got := valueOf(v1.Spec.TargetCPUUtilizationPercentage); got != 70 {
		t.Errorf("target CPU is %d, want 70", got)
	}
	if out := hpaToV2(v1); !equality.Semantic.DeepEqual(in, out) {
		t.Errorf("got %+v, want %+v", out, in)
	}
}

func TestAutoscalerV1WithoutMetrics(t *testing.T) {
	out := hpaToV2(&autoscalingv1.HorizontalPodAutoscaler{})
	if len(out.Spec.Metrics) != 1 || valueOf(out.Spec.Metrics[0].Resource.Target.AverageUtilization) != defaultCPUUtilization {
		t.Errorf("metrics are %+v", out.Spec.Metrics)
	}
}

func TestEventSurvivesCoreEvent(t *testing.T) {
	in := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "Created", Note: "a note", ReportingController: "c",
		Regarding: corev1.ObjectReference{Kind: "Pod", Name: "p"}, Series: &eventsv1.EventSeries{Count: 3}, DeprecatedCount: 2,
	}
	if out := fromCoreEvent(toCoreEvent(in)); !equality.Semantic.DeepEqual(in, out) {
		t.Errorf("got %+v, want %+v", out, in)
	}
}

func TestAutoscalerV1StatusIsNotWritten(t *testing.T) {
	obj := &autoscalingv1.HorizontalPodAutoscaler{}
	obj.Annotations = map[string]string{conditionsAnnotation: "[]", metricsAnnotation: "[]"}
	dropStatus(obj, nil)
	if _, ok := obj.Annotations[conditionsAnnotation]; ok || obj.Annotations[metricsAnnotation] != "[]" {
		t.Errorf("annotations are %v", obj.Annotations)
	}
	old := obj.DeepCopy()
	old.Annotations[conditionsAnnotation] = "[{}]"
	dropStatus(obj, old)
	if obj.Annotations[conditionsAnnotation] != "[{}]" {
		t.Errorf("annotations are %v", obj.Annotations)
	}
}
