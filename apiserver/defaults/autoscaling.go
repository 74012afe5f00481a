package defaults

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// HorizontalPodAutoscalerV1 fills an autoscaling/v1 HorizontalPodAutoscaler.
func HorizontalPodAutoscalerV1(hpa *autoscalingv1.HorizontalPodAutoscaler) {
	setNil(&hpa.Spec.MinReplicas, 1)
}

// HorizontalPodAutoscaler fills an autoscaling/v2 HorizontalPodAutoscaler: it
// scales on 80 % of the requested CPU unless told otherwise.
func HorizontalPodAutoscaler(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	setNil(&hpa.Spec.MinReplicas, 1)
	if len(hpa.Spec.Metrics) == 0 {
		utilization := int32(80)
		hpa.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
			},
		}}
	}
	if behavior := hpa.Spec.Behavior; behavior != nil {
		scaleUp(&behavior.ScaleUp)
		scaleDown(&behavior.ScaleDown)
	}
}

// scaleUp allows four pods or a doubling every 15 s, whichever is more.
func scaleUp(rules **autoscalingv2.HPAScalingRules) {
	scaling(rules, []autoscalingv2.HPAScalingPolicy{
		{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
		{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
	})
	setNil(&(*rules).StabilizationWindowSeconds, 0)
}

// scaleDown allows all at once. The stabilization window stays absent: then the
// controller's own applies.
func scaleDown(rules **autoscalingv2.HPAScalingRules) {
	scaling(rules, []autoscalingv2.HPAScalingPolicy{
		{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
	})
}

func scaling(rules **autoscalingv2.HPAScalingRules, policies []autoscalingv2.HPAScalingPolicy) {
	setNil(rules, autoscalingv2.HPAScalingRules{})
	setNil(&(*rules).SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if (*rules).Policies == nil {
		(*rules).Policies = policies
	}
}
