package podautoscaler

import (
	"context"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// proposal is a number of replicas, and the metric that asks for it.
type proposal struct {
	replicas int32
	metric   string
	status   autoscalingv2.MetricStatus
}

// workload is what metrics are worked out for.
type workload struct {
	spec, current int32 // replicas wanted and there
	selector      labels.Selector
	pods          []*corev1.Pod
}

// propose asks all metrics and takes the largest proposal. While some fail, the
// workload does not get smaller.
func (p *pass) propose(ctx context.Context, target *autoscalingv1.Scale) (proposal, []autoscalingv2.MetricStatus, error) {
	w, err := p.workload(target)
	if err != nil {
		return proposal{}, nil, err
	}
	specs := p.scaler.Spec.Metrics
	statuses := make([]autoscalingv2.MetricStatus, len(specs))
	var best proposal
	var first *failure
	failures := 0
	for i, spec := range specs {
		found, err := p.proposeFor(ctx, spec, w)
		var f *failure
		if errors.As(err, &f) {
			failures++
			if first == nil {
				first = f
			}
			continue
		}
		statuses[i] = found.status
		if best.metric == "" || found.replicas > best.replicas {
			best = found
		}
	}
	if failures > 0 && (failures == len(specs) || best.replicas < w.spec) {
		p.condition(autoscalingv2.ScalingActive, corev1.ConditionFalse, first.reason, "the HPA was unable to compute the replica count: %v", first.cause)
		return proposal{}, statuses, fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w", failures, len(specs), first)
	}
	p.condition(autoscalingv2.ScalingActive, corev1.ConditionTrue, "ValidMetricFound", "the HPA was able to successfully calculate a replica count from %s", best.metric)
	return best, statuses, nil
}

func (p *pass) workload(target *autoscalingv1.Scale) (workload, error) {
	if target.Status.Selector == "" {
		p.events.Event(p.scaler, corev1.EventTypeWarning, "SelectorRequired", "selector is required")
		p.condition(autoscalingv2.ScalingActive, corev1.ConditionFalse, "InvalidSelector", "the HPA target's scale is missing a selector")
		return workload{}, errors.New("selector is required")
	}
	selector, err := labels.Parse(target.Status.Selector)
	if err != nil {
		err = fmt.Errorf("couldn't convert selector into a corresponding internal selector object: %w", err)
		p.events.Event(p.scaler, corev1.EventTypeWarning, "InvalidSelector", err.Error())
		p.condition(autoscalingv2.ScalingActive, corev1.ConditionFalse, "InvalidSelector", "%v", err)
		return workload{}, err
	}
	pods, err := p.pods.Pods(p.scaler.Namespace).List(selector)
	return workload{spec: target.Spec.Replicas, current: target.Status.Replicas, selector: selector, pods: pods}, err
}

// failure is a metric that could not be worked out: the reason of condition and
// event, the cause that they tell, and the whole sentence.
type failure struct {
	reason string
	cause  error
	text   string
}

func (f *failure) Error() string { return fmt.Sprintf("%s: %v", f.text, f.cause) }

func (p *pass) proposeFor(ctx context.Context, spec autoscalingv2.MetricSpec, w workload) (proposal, error) {
	var found proposal
	var err error
	var reason, text string
	switch spec.Type {
	case autoscalingv2.ResourceMetricSourceType:
		reason, text = "FailedGetResourceMetric", fmt.Sprintf("failed to get %s resource metric value", spec.Resource.Name)
		var current autoscalingv2.MetricValueStatus
		found, current, err = p.resource(ctx, w, spec.Resource.Name, "", spec.Resource.Target)
		found.status.Resource = &autoscalingv2.ResourceMetricStatus{Name: spec.Resource.Name, Current: current}
	case autoscalingv2.ContainerResourceMetricSourceType:
		source := spec.ContainerResource
		reason, text = "FailedGetContainerResourceMetric", fmt.Sprintf("failed to get %s container metric value", source.Name)
		var current autoscalingv2.MetricValueStatus
		found, current, err = p.resource(ctx, w, source.Name, source.Container, source.Target)
		found.status.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{Name: source.Name, Container: source.Container, Current: current}
	case autoscalingv2.PodsMetricSourceType:
		reason, text = "FailedGetPodsMetric", "failed to get pods metric value"
		found, err = p.podsMetric(w, spec.Pods)
	case autoscalingv2.ObjectMetricSourceType:
		reason, text = "FailedGetObjectMetric", "failed to get object metric value"
		found, err = p.objectMetric(w, spec.Object)
	case autoscalingv2.ExternalMetricSourceType:
		reason, text = "FailedGetExternalMetric", fmt.Sprintf("failed to get %s external metric", spec.External.Metric.Name)
		found, err = p.externalMetric(w, spec.External)
	default:
		reason, text, err = "InvalidMetricSourceType", "invalid metric source type", fmt.Errorf("unknown metric source type %q", spec.Type)
	}
	if err != nil {
		p.events.Event(p.scaler, corev1.EventTypeWarning, reason, err.Error())
		return proposal{}, &failure{reason: reason, cause: err, text: text}
	}
	found.status.Type = spec.Type
	return found, nil
}

// resource works out a resource metric, of one container if it is named.
func (p *pass) resource(ctx context.Context, w workload, name corev1.ResourceName, container string, target autoscalingv2.MetricTarget) (proposal, autoscalingv2.MetricValueStatus, error) {
	kind := "resource"
	if container != "" {
		kind = "container resource"
	}
	var current autoscalingv2.MetricValueStatus
	if target.AverageValue == nil && target.AverageUtilization == nil {
		return proposal{}, current, errors.New("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set")
	}
	what := "usage"
	if target.AverageValue == nil {
		what = "utilization"
	}
	samples, err := p.metrics.ofResource(ctx, p.scaler.Namespace, w.selector, name, container)
	if err != nil {
		return proposal{}, current, fmt.Errorf("failed to get %s %s: unable to get metrics for resource %s: %w", name, what, name, err)
	}
	g := group(w.pods, samples, name, p.now)
	measured, full := valueOrNone(target), func(string) int64 { return target.AverageValue.MilliValue() }
	metric := fmt.Sprintf("%s %s", name, kind)
	if target.AverageValue == nil {
		requests, err := requestsOf(w.pods, name, container)
		if err != nil && len(w.pods) > 0 {
			return proposal{}, current, fmt.Errorf("failed to get %s utilization: %w", name, err)
		}
		measured = toUtilization(*target.AverageUtilization, requests)
		full = func(pod string) int64 { return requests[pod] * int64(max(100, *target.AverageUtilization)) / 100 }
		metric += " utilization (percentage of request)"
	}
	replicas, percent, mean, err := perPod(w.spec, w.pods, samples, g, measured, full, p.tolerance())
	if err != nil {
		return proposal{}, current, fmt.Errorf("failed to get %s %s: %w", name, what, err)
	}
	current.AverageValue = resource.NewMilliQuantity(mean, resource.DecimalSI)
	if target.AverageValue == nil {
		current.AverageUtilization = &percent
	}
	return proposal{replicas: replicas, metric: metric}, current, nil
}

func valueOrNone(target autoscalingv2.MetricTarget) measure {
	if target.AverageValue == nil {
		return nil
	}
	return toValue(target.AverageValue.MilliValue())
}

func (p *pass) podsMetric(w workload, source *autoscalingv2.PodsMetricSource) (proposal, error) {
	samples, err := p.metrics.ofPods(p.scaler.Namespace, w.selector, source.Metric)
	if err != nil {
		return proposal{}, fmt.Errorf("unable to get metric %s: %w", source.Metric.Name, err)
	}
	target := source.Target.AverageValue.MilliValue()
	g := group(w.pods, samples, "", p.now)
	replicas, _, mean, err := perPod(w.spec, w.pods, samples, g, toValue(target), func(string) int64 { return target }, p.tolerance())
	return proposal{
		replicas: replicas, metric: "pods metric " + source.Metric.Name,
		status: autoscalingv2.MetricStatus{Pods: &autoscalingv2.PodsMetricStatus{Metric: source.Metric, Current: autoscalingv2.MetricValueStatus{AverageValue: milli(mean)}}},
	}, err
}

func (p *pass) objectMetric(w workload, source *autoscalingv2.ObjectMetricSource) (proposal, error) {
	value, err := p.metrics.ofObject(p.scaler.Namespace, source.DescribedObject, source.Metric)
	if err != nil {
		return proposal{}, fmt.Errorf("unable to get metric %s: %s on %s %s: %w", source.Metric.Name, source.DescribedObject.Kind, p.scaler.Namespace, source.DescribedObject.Name, err)
	}
	replicas, current, err := p.whole(w, value, source.Target)
	return proposal{
		replicas: replicas, metric: fmt.Sprintf("%s metric %s", source.DescribedObject.Kind, source.Metric.Name),
		status: autoscalingv2.MetricStatus{Object: &autoscalingv2.ObjectMetricStatus{Metric: source.Metric, DescribedObject: source.DescribedObject, Current: current}},
	}, err
}

func (p *pass) externalMetric(w workload, source *autoscalingv2.ExternalMetricSource) (proposal, error) {
	value, err := p.metrics.ofExternal(p.scaler.Namespace, source.Metric)
	if err != nil {
		return proposal{}, fmt.Errorf("unable to get external metric %s/%s/%s: %w", p.scaler.Namespace, source.Metric.Name, metav1.FormatLabelSelector(source.Metric.Selector), err)
	}
	replicas, current, err := p.whole(w, value, source.Target)
	return proposal{
		replicas: replicas, metric: fmt.Sprintf("external metric %s(%+v)", source.Metric.Name, source.Metric.Selector),
		status: autoscalingv2.MetricStatus{External: &autoscalingv2.ExternalMetricStatus{Metric: source.Metric, Current: current}},
	}, err
}

// whole works out a metric of the whole workload: its value, or the share of each replica.
func (p *pass) whole(w workload, value int64, target autoscalingv2.MetricTarget) (int32, autoscalingv2.MetricValueStatus, error) {
	switch {
	case target.AverageValue != nil:
		replicas, mean := shared(w.current, value, target.AverageValue.MilliValue(), p.tolerance())
		return replicas, autoscalingv2.MetricValueStatus{AverageValue: milli(mean)}, nil
	case target.Value != nil:
		replicas, err := byRatio(w.spec, float64(value)/float64(target.Value.MilliValue()), w.pods, p.tolerance())
		return replicas, autoscalingv2.MetricValueStatus{Value: milli(value)}, err
	}
	return 0, autoscalingv2.MetricValueStatus{}, errors.New("invalid metric source: neither a value target nor an average value target was set")
}

func milli(value int64) *resource.Quantity {
	return resource.NewMilliQuantity(value, resource.DecimalSI)
}

// tolerance is the autoscaler's own, or the cluster's.
func (p *pass) tolerance() tolerance {
	t := tolerance{down: defaultTolerance, up: defaultTolerance}
	if b := p.scaler.Spec.Behavior; b != nil {
		if rules := ptr.Deref(b.ScaleDown, autoscalingv2.HPAScalingRules{}); rules.Tolerance != nil {
			t.down = rules.Tolerance.AsApproximateFloat64()
		}
		if rules := ptr.Deref(b.ScaleUp, autoscalingv2.HPAScalingRules{}); rules.Tolerance != nil {
			t.up = rules.Tolerance.AsApproximateFloat64()
		}
	}
	return t
}
