package validation

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxStabilizationSeconds = 3600
	maxPolicyPeriodSeconds  = 1800
	populated               = "must populate information for the given metric source"
)

// Scale holds the rules of a write to a scale subresource.
func Scale(s *autoscalingv1.Scale) field.ErrorList {
	return append(metaCreate(&s.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		nonNegative(s.Spec.Replicas, field.NewPath("spec", "replicas"))...)
}

// HorizontalPodAutoscalerV1 holds the rules of autoscaling/v1, which are those of
// v2 for its one metric.
func HorizontalPodAutoscalerV1(h, old *autoscalingv1.HorizontalPodAutoscaler) field.ErrorList {
	v2 := func(h *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
		if h == nil {
			return nil
		}
		out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: h.ObjectMeta, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(h.Spec.ScaleTargetRef),
			MinReplicas:    h.Spec.MinReplicas, MaxReplicas: h.Spec.MaxReplicas}}
		if percent := h.Spec.TargetCPUUtilizationPercentage; percent != nil {
			out.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: percent}}}}
		}
		return out
	}
	return HorizontalPodAutoscaler(v2(h), v2(old))
}

// HorizontalPodAutoscaler holds the rules of autoscaling/v2.
func HorizontalPodAutoscaler(h, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	s, p := &h.Spec, field.NewPath("spec")
	lowest := int32(1)
	if s.MinReplicas != nil {
		lowest = *s.MinReplicas
	}
	errs := append(metaEither(&h.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		refuse(s.MinReplicas != nil && s.MaxReplicas < lowest, field.Invalid(p.Child("maxReplicas"), s.MaxReplicas, "must be greater than or equal to `minReplicas`"))...)
	return concat(errs,
		scaleTarget(s.ScaleTargetRef, p.Child("scaleTargetRef")),
		metrics(s.Metrics, lowest == 0, p.Child("metrics")),
		when(s.Behavior, p.Child("behavior"), behavior),
		nonNegative(lowest, p.Child("minReplicas")),
		atLeastOne(s.MaxReplicas, p.Child("maxReplicas")))
}

func atLeastOne(n int32, p *field.Path) field.ErrorList {
	if n == 0 {
		return field.ErrorList{field.Required(p, "")}
	}
	return refuse(n < 1, field.Invalid(p, n, "must be greater than or equal to 1"))
}

// HorizontalPodAutoscalerStatus holds the rules of a write to
// horizontalpodautoscalers/status in v2.
func HorizontalPodAutoscalerStatus(h, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	return append(metaUpdate(&h.ObjectMeta, &old.ObjectMeta), counters(field.NewPath("status"),
		counter{"currentReplicas", int64(h.Status.CurrentReplicas)}, counter{"desiredReplicas", int64(h.Status.DesiredReplicas)})...)
}

func scaleTarget(r autoscalingv2.CrossVersionObjectReference, p *field.Path) field.ErrorList {
	return append(pathSegment(r.Kind, p.Child("kind")), pathSegment(r.Name, p.Child("name"))...)
}

func metrics(list []autoscalingv2.MetricSpec, toZero bool, p *field.Path) field.ErrorList {
	outside := false
	errs := each(list, p, func(m *autoscalingv2.MetricSpec, p *field.Path) field.ErrorList {
		outside = outside || m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
		return metric(m, p)
	})
	return append(errs, refuse(toZero && !outside,
		field.Forbidden(p, "must specify at least one Object or External metric to support scaling to zero replicas"))...)
}

func metric(m *autoscalingv2.MetricSpec, p *field.Path) field.ErrorList {
	kind := p.Child("type")
	errs := append(refuse(m.Type == "", field.Required(kind, "must specify a metric source type")),
		supported(m.Type, kind, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
			autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType)...)
	sources := []struct {
		kind autoscalingv2.MetricSourceType
		alternative
	}{
		{autoscalingv2.ObjectMetricSourceType, source("object", m.Object, p, objectMetric)},
		{autoscalingv2.ExternalMetricSourceType, source("external", m.External, p, externalMetric)},
		{autoscalingv2.PodsMetricSourceType, source("pods", m.Pods, p, podsMetric)},
		{autoscalingv2.ResourceMetricSourceType, source("resource", m.Resource, p, func(r *autoscalingv2.ResourceMetricSource, p *field.Path) field.ErrorList {
			return append(refuse(r.Name == "", field.Required(p.Child("name"), "must specify a resource name")), resourceTarget(&r.Target, p.Child("target"))...)
		})},
		{autoscalingv2.ContainerResourceMetricSourceType, source("containerResource", m.ContainerResource, p, containerMetric)},
	}
	var others field.ErrorList
	present := 0
	for _, s := range sources {
		if s.set {
			present++
			if present == 1 {
				errs = append(errs, s.errors()...)
			}
			if s.kind != m.Type {
				others = append(others, field.Forbidden(p.Child(s.field), "must populate the given metric source only"))
			}
		} else if s.kind == m.Type {
			errs = append(errs, field.Required(p.Child(s.field), populated))
		}
	}
	if present == 1 && len(others) == 1 && len(errs) == 0 {
		return append(errs, others...)
	}
	if present > 1 {
		errs = append(errs, others...)
	}
	return errs
}

func objectMetric(o *autoscalingv2.ObjectMetricSource, p *field.Path) field.ErrorList {
	t := p.Child("target")
	return concat(scaleTarget(o.DescribedObject, p.Child("describedObject")), metricName(&o.Metric, p.Child("metric")), metricTarget(&o.Target, t),
		refuse(o.Target.Value == nil && o.Target.AverageValue == nil, field.Required(t.Child("averageValue"), "must set either a target value or averageValue")))
}

func externalMetric(e *autoscalingv2.ExternalMetricSource, p *field.Path) field.ErrorList {
	t := p.Child("target")
	return concat(metricName(&e.Metric, p.Child("metric")), metricTarget(&e.Target, t),
		refuse(e.Target.Value == nil && e.Target.AverageValue == nil, field.Required(t.Child("averageValue"), "must set either a target value for metric or a per-pod target")),
		refuse(e.Target.Value != nil && e.Target.AverageValue != nil, field.Forbidden(t.Child("value"), "may not set both a target value for metric and a per-pod target")))
}

func podsMetric(m *autoscalingv2.PodsMetricSource, p *field.Path) field.ErrorList {
	t, average := p.Child("target"), m.Target.AverageValue
	return concat(metricName(&m.Metric, p.Child("metric")), metricTarget(&m.Target, t),
		refuse(average == nil || average.Sign() != 1, field.Required(t.Child("averageValue"), "must specify a positive target averageValue")))
}

func containerMetric(m *autoscalingv2.ContainerResourceMetricSource, p *field.Path) field.ErrorList {
	return concat(refuse(m.Name == "", field.Required(p.Child("name"), "must specify a resource name")),
		refuse(m.Container == "", field.Required(p.Child("container"), "must specify a container")),
		resourceTarget(&m.Target, p.Child("target")))
}

func resourceTarget(t *autoscalingv2.MetricTarget, p *field.Path) field.ErrorList {
	return concat(metricTarget(t, p),
		refuse(t.AverageUtilization == nil && t.AverageValue == nil, field.Required(p.Child("averageUtilization"), "must set either a target raw value or a target utilization")),
		refuse(t.AverageUtilization != nil && t.AverageValue != nil, field.Forbidden(p.Child("averageValue"), "may not set both a target raw value and a target utilization")))
}

func metricName(m *autoscalingv2.MetricIdentifier, p *field.Path) field.ErrorList {
	if m.Name == "" {
		return field.ErrorList{field.Required(p.Child("name"), "must specify a metric name")}
	}
	return named(m.Name, p.Child("name"), path.ValidatePathSegmentName)
}

func metricTarget(t *autoscalingv2.MetricTarget, p *field.Path) field.ErrorList {
	kind := p.Child("type")
	known := t.Type == autoscalingv2.UtilizationMetricType || t.Type == autoscalingv2.ValueMetricType || t.Type == autoscalingv2.AverageValueMetricType
	return concat(
		refuse(t.Type == "", field.Required(kind, "must specify a metric target type")),
		refuse(!known, field.Invalid(kind, t.Type, "must be either Utilization, Value, or AverageValue")),
		refuse(t.Value != nil && t.Value.Sign() != 1, field.Invalid(p.Child("value"), t.Value, "must be positive")),
		refuse(t.AverageValue != nil && t.AverageValue.Sign() != 1, field.Invalid(p.Child("averageValue"), t.AverageValue, "must be positive")),
		refuse(t.AverageUtilization != nil && *t.AverageUtilization < 1, field.Invalid(p.Child("averageUtilization"), t.AverageUtilization, "must be greater than 0")))
}

func behavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior, p *field.Path) field.ErrorList {
	return concat(when(b.ScaleUp, p.Child("scaleUp"), scalingRules), when(b.ScaleDown, p.Child("scaleDown"), scalingRules))
}

func scalingRules(r *autoscalingv2.HPAScalingRules, p *field.Path) field.ErrorList {
	at, seconds := p.Child("stabilizationWindowSeconds"), r.StabilizationWindowSeconds
	errs := concat(
		refuse(seconds != nil && *seconds < 0, field.Invalid(at, seconds, "must be greater than or equal to zero")),
		refuse(seconds != nil && *seconds > maxStabilizationSeconds, field.Invalid(at, seconds, fmt.Sprintf("must be less than or equal to %v", maxStabilizationSeconds))),
		when(r.SelectPolicy, p.Child("selectPolicy"), func(v *autoscalingv2.ScalingPolicySelect, p *field.Path) field.ErrorList {
			return supported(*v, p, autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)
		}),
		refuse(len(r.Policies) == 0, field.Required(p.Child("policies"), "must specify at least one Policy")),
		each(r.Policies, p.Child("policies"), scalingPolicy))
	if r.Tolerance != nil {
		errs = append(errs, nonNegativeQuantity(*r.Tolerance, p.Child("tolerance"))...)
	}
	return errs
}

func scalingPolicy(s *autoscalingv2.HPAScalingPolicy, p *field.Path) field.ErrorList {
	period := p.Child("periodSeconds")
	return concat(supported(s.Type, p.Child("type"), autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy),
		refuse(s.Value <= 0, field.Invalid(p.Child("value"), s.Value, notPositive)),
		refuse(s.PeriodSeconds <= 0, field.Invalid(period, s.PeriodSeconds, notPositive)),
		refuse(s.PeriodSeconds > maxPolicyPeriodSeconds, field.Invalid(period, s.PeriodSeconds, fmt.Sprintf("must be less than or equal to %v", maxPolicyPeriodSeconds))))
}
