package controllers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/sandbox"
)

// load answers the resource metrics API: each pod of the namespace uses so many
// thousandths of a CPU.
type load struct {
	*cluster
	next  http.RoundTripper
	milli atomic.Int64
}

func (l *load) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(request.URL.Path, "/apis/metrics.k8s.io/") {
		return l.next.RoundTrip(request)
	}
	var items []any
	for _, pod := range l.pods("default") {
		items = append(items, map[string]any{
			"metadata": map[string]any{"name": pod.Name, "namespace": "default"}, "timestamp": metav1.Now(), "window": "30s",
			"containers": []any{map[string]any{"name": "c", "usage": map[string]any{"cpu": fmt.Sprintf("%dm", l.milli.Load())}}},
		})
	}
	body, err := json.Marshal(map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "items": items})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(body))), Request: request,
	}, err
}

// TestAutoscaler has a Deployment follow its load up and, after five minutes, down.
func TestAutoscaler(t *testing.T) {
	inCluster(t, sandbox.Config{APIOnly: true, DisableAdmissionPlugins: []string{"ServiceAccount"}}, func(c *cluster) {
		l := &load{cluster: c}
		config := c.RESTConfig()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { l.next = next; return l })
		stop := c.startWith(config, controllers.Config{})
		defer stop()
		d := web(2)
		d.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
		c.create(d)
		scaler := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "h"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 10,
				Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
					Name: "cpu", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](50)},
				}}},
			},
		}
		must(t)(c.client.AutoscalingV2().HorizontalPodAutoscalers("default").Create(c.Context(), scaler, metav1.CreateOptions{}))
		l.milli.Store(100)
		c.settle(10 * time.Second)
		c.playPods()
		if n := *c.deployment("web").Spec.Replicas; n != 2 {
			t.Errorf("%d replicas before the first look", n)
		}
		c.settle(11 * time.Second)
		if n := *c.deployment("web").Spec.Replicas; n != 4 {
			t.Errorf("%d replicas at 100 %% of 50 %%, want 4", n)
		}
		c.playPods()
		l.milli.Store(50)
		c.settle(time.Minute)
		if n := *c.deployment("web").Spec.Replicas; n != 4 {
			t.Errorf("%d replicas on target, want still 4", n)
		}
		l.milli.Store(10)
		c.settle(3 * time.Minute)
		if n := *c.deployment("web").Spec.Replicas; n != 4 {
			t.Errorf("%d replicas three minutes after the load went, want still 4", n)
		}
		c.settle(4 * time.Minute)
		if n := *c.deployment("web").Spec.Replicas; n != 1 {
			t.Errorf("%d replicas in the end, want 1", n)
		}
		got, err := c.client.AutoscalingV2().HorizontalPodAutoscalers("default").Get(c.Context(), "h", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Status; s.DesiredReplicas != 1 || s.LastScaleTime == nil || *s.CurrentMetrics[0].Resource.Current.AverageUtilization != 10 {
			t.Errorf("status %+v", s)
		}
	})
}

// playPods makes all pods Ready, long ago started.
func (c *cluster) playPods() {
	c.Helper()
	status := `{"status":{"phase":"Running","startTime":"1999-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"1999-01-01T00:00:00Z"}]}}`
	for _, pod := range c.pods("default") {
		must(c.T)(c.client.CoreV1().Pods("default").Patch(c.Context(), pod.Name, "application/strategic-merge-patch+json", []byte(status), metav1.PatchOptions{}, "status"))
	}
}
