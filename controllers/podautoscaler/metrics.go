package podautoscaler

import (
	"context"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	custommetrics "k8s.io/metrics/pkg/client/custom_metrics"
	externalmetrics "k8s.io/metrics/pkg/client/external_metrics"

	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	resourcemetrics "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
)

// sample is a pod's metric, in thousandths.
type sample struct {
	value  int64
	at     time.Time
	window time.Duration
}

// metrics asks the three metrics APIs. They may be missing.
type metrics struct {
	resource resourcemetrics.PodMetricsesGetter
	custom   custommetrics.CustomMetricsClient
	external externalmetrics.ExternalMetricsClient
}

func newMetrics(config *rest.Config, mapper meta.RESTMapper, discovered discovery.DiscoveryInterface) (*metrics, error) {
	resource, err := resourcemetrics.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("resource metrics: %w", err)
	}
	external, err := externalmetrics.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("external metrics: %w", err)
	}
	return &metrics{
		resource: resource, external: external,
		custom: custommetrics.NewForConfig(config, mapper, custommetrics.NewAvailableAPIsGetter(discovered)),
	}, nil
}

// ofResource is what pods use of a resource, or one container of each of them
// does if it is named. A pod that does not tell about all containers is left out.
func (m *metrics) ofResource(ctx context.Context, namespace string, selector labels.Selector, resource corev1.ResourceName, container string) (map[string]sample, error) {
	list, err := m.resource.PodMetricses(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, fmt.Errorf("unable to fetch metrics from resource metrics API: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("no metrics returned from resource metrics API")
	}
	samples := map[string]sample{}
	for i := range list.Items {
		if value, complete := usage(&list.Items[i], resource, container); complete {
			samples[list.Items[i].Name] = sample{value: value, at: list.Items[i].Timestamp.Time, window: list.Items[i].Window.Duration}
		}
	}
	return samples, nil
}

func usage(pod *metricsv1beta1.PodMetrics, resource corev1.ResourceName, container string) (total int64, complete bool) {
	for _, c := range pod.Containers {
		if container != "" && c.Name != container {
			continue
		}
		quantity, found := c.Usage[resource]
		if !found {
			return 0, false
		}
		total += quantity.MilliValue()
		complete = true
	}
	return total, complete
}

// ofPods is a custom metric of each pod.
func (m *metrics) ofPods(namespace string, selector labels.Selector, metric autoscalingv2.MetricIdentifier) (map[string]sample, error) {
	metricSelector, err := metav1.LabelSelectorAsSelector(metric.Selector)
	if err != nil {
		return nil, err
	}
	list, err := m.custom.NamespacedMetrics(namespace).GetForObjects(schema.GroupKind{Kind: "Pod"}, selector, metric.Name, orEverything(metric, metricSelector))
	if err != nil {
		return nil, fmt.Errorf("unable to fetch metrics from custom metrics API: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("no metrics returned from custom metrics API")
	}
	samples := map[string]sample{}
	for _, item := range list.Items {
		window := time.Minute
		if item.WindowSeconds != nil {
			window = time.Duration(*item.WindowSeconds) * time.Second
		}
		samples[item.DescribedObject.Name] = sample{value: item.Value.MilliValue(), at: item.Timestamp.Time, window: window}
	}
	return samples, nil
}

// ofObject is a custom metric of one object.
func (m *metrics) ofObject(namespace string, object autoscalingv2.CrossVersionObjectReference, metric autoscalingv2.MetricIdentifier) (int64, error) {
	group, err := schema.ParseGroupVersion(object.APIVersion)
	if err != nil {
		return 0, err
	}
	metricSelector, err := metav1.LabelSelectorAsSelector(metric.Selector)
	if err != nil {
		return 0, err
	}
	kind := group.WithKind(object.Kind).GroupKind()
	source := m.custom.NamespacedMetrics(namespace)
	if kind.Kind == "Namespace" && kind.Group == "" {
		source = m.custom.RootScopedMetrics()
	}
	value, err := source.GetForObject(kind, object.Name, metric.Name, orEverything(metric, metricSelector))
	if err != nil {
		return 0, fmt.Errorf("unable to fetch metrics from custom metrics API: %w", err)
	}
	return value.Value.MilliValue(), nil
}

// ofExternal adds up an external metric.
func (m *metrics) ofExternal(namespace string, metric autoscalingv2.MetricIdentifier) (int64, error) {
	selector, err := metav1.LabelSelectorAsSelector(metric.Selector)
	if err != nil {
		return 0, err
	}
	list, err := m.external.NamespacedMetrics(namespace).List(metric.Name, orEverything(metric, selector))
	if err != nil {
		return 0, fmt.Errorf("unable to fetch metrics from external metrics API: %w", err)
	}
	if len(list.Items) == 0 {
		return 0, fmt.Errorf("no metrics returned from external metrics API")
	}
	total := int64(0)
	for _, item := range list.Items {
		total += item.Value.MilliValue()
	}
	return total, nil
}

// orEverything: a metric without a selector is any of its name.
func orEverything(metric autoscalingv2.MetricIdentifier, selector labels.Selector) labels.Selector {
	if metric.Selector == nil {
		return labels.Everything()
	}
	return selector
}
