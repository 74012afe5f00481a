package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/discovery"
)

// metricsPath is where the metrics API is served. In a real cluster metrics-server
// does so behind an APIService; here it is an add-on of the API server, which asks the
// kubelets when it is asked, and nobody otherwise.
const metricsPath = "/apis/metrics.k8s.io/v1beta1"

// metricsWindow is how far apart two readings of a counter are at least, from which
// CPU usage follows.
const metricsWindow = 10 * time.Second

// metricsAPI turns the kubelets' counters into rates.
type metricsAPI struct {
	s  *Server
	mu sync.Mutex
	// last are earlier readings by node, pod or container.
	last map[string]reading
}

type reading struct {
	at   time.Time
	cpu  float64 // seconds
	rate float64 // CPUs, as of then
}

func newMetricsAPI(s *Server) *metricsAPI { return &metricsAPI{s: s, last: map[string]reading{}} }

// metricsVersion is what discovery shows.
func metricsVersion() discovery.Remote {
	verbs := metav1.Verbs{"get", "list"}
	return discovery.Remote{Group: metricsv1beta1.GroupName, Version: "v1beta1", GroupPriority: 100, VersionPriority: 100, Resources: &metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: metricsv1beta1.SchemeGroupVersion.String(),
		APIResources: []metav1.APIResource{{Name: "nodes", Kind: "NodeMetrics", Verbs: verbs}, {Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: verbs}},
	}}
}

// ServeHTTP implements http.Handler.
func (m *metricsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := m.answer(r)
	if err != nil {
		m.s.writeError(w, r, form{media: mediaJSON}, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (m *metricsAPI) answer(r *http.Request) (any, error) {
	if r.Method != http.MethodGet {
		return nil, apierrors.NewMethodNotSupported(metricsv1beta1.Resource("pods"), r.Method)
	}
	p, ok := parsePath(r.URL.Path)
	if !ok {
		if strings.Trim(strings.TrimPrefix(r.URL.Path, metricsPath), "/") == "" {
			return metricsVersion().Resources, nil
		}
		return nil, errNoResource
	}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := m.s.fresh(r.Context(), ""); err != nil {
		return nil, err
	}
	switch p.resource {
	case "nodes":
		return m.nodes(r.Context(), p.name, selector)
	case "pods":
		return m.pods(r.Context(), p.namespace, p.name, selector)
	}
	return nil, errNoResource
}

// selected are the objects of a kind that are asked for.
func selected[T any](s *Server, group, kind, namespace, name string, selector labels.Selector) (out []T, err error) {
	res := s.table.get(group, "v1", kind)
	s.cache.Resource(res.prefix).Snapshot().Each(res.key(namespace, ""), "", func(e *cache.Entry) bool {
		if !selector.Matches(labels.Set(e.Labels())) {
			return true
		}
		obj, decodeErr := s.codec.object(res, e)
		if decodeErr != nil {
			err = decodeErr
			return false
		}
		if name == "" || accessorOf(obj).GetName() == name {
			out = append(out, any(obj).(T))
		}
		return true
	})
	return out, err
}

func (m *metricsAPI) nodes(ctx context.Context, name string, selector labels.Selector) (any, error) {
	nodes, err := selected[*corev1.Node](m.s, "", "nodes", "", name, selector)
	if err != nil {
		return nil, err
	}
	list := metricsv1beta1.NodeMetricsList{TypeMeta: metav1.TypeMeta{Kind: "NodeMetricsList", APIVersion: metricsv1beta1.SchemeGroupVersion.String()}, Items: []metricsv1beta1.NodeMetrics{}}
	for _, node := range nodes {
		summary, err := m.summary(ctx, node)
		if err != nil {
			continue // its kubelet does not answer: it has no metrics
		}
		item := metricsv1beta1.NodeMetrics{
			TypeMeta:   metav1.TypeMeta{Kind: "NodeMetrics", APIVersion: metricsv1beta1.SchemeGroupVersion.String()},
			ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels, CreationTimestamp: m.s.now()},
			Timestamp:  m.s.now(), Window: metav1.Duration{Duration: metricsWindow}, Usage: m.usage("node/"+node.Name, summary.Node),
		}
		if name != "" {
			return item, nil
		}
		list.Items = append(list.Items, item)
	}
	if name != "" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: metricsv1beta1.GroupName, Resource: "nodes"}, name)
	}
	return list, nil
}

func (m *metricsAPI) pods(ctx context.Context, namespace, name string, selector labels.Selector) (any, error) {
	pods, err := selected[*corev1.Pod](m.s, "", "pods", namespace, name, selector)
	if err != nil {
		return nil, err
	}
	list := metricsv1beta1.PodMetricsList{TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: metricsv1beta1.SchemeGroupVersion.String()}, Items: []metricsv1beta1.PodMetrics{}}
	summaries := map[string]*nodeSummary{}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		s, asked := summaries[pod.Spec.NodeName]
		if !asked {
			if nodes, err := selected[*corev1.Node](m.s, "", "nodes", "", pod.Spec.NodeName, labels.Everything()); err == nil && len(nodes) == 1 {
				if s, err = m.summary(ctx, nodes[0]); err != nil {
					s = nil
				}
			}
			summaries[pod.Spec.NodeName] = s
		}
		item, ok := m.pod(pod, s)
		switch {
		case ok && name != "":
			return item, nil
		case ok:
			list.Items = append(list.Items, item)
		}
	}
	if name != "" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: metricsv1beta1.GroupName, Resource: "pods"}, namespace+"/"+name)
	}
	return list, nil
}

// pod are the metrics of a pod, as its node has them.
func (m *metricsAPI) pod(pod *corev1.Pod, s *nodeSummary) (metricsv1beta1.PodMetrics, bool) {
	item := metricsv1beta1.PodMetrics{
		TypeMeta:   metav1.TypeMeta{Kind: "PodMetrics", APIVersion: metricsv1beta1.SchemeGroupVersion.String()},
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, Labels: pod.Labels, CreationTimestamp: m.s.now()},
		Timestamp:  m.s.now(), Window: metav1.Duration{Duration: metricsWindow},
	}
	if s == nil {
		return item, false
	}
	for _, p := range s.Pods {
		if p.PodRef.UID != string(pod.UID) {
			continue
		}
		for _, c := range p.Containers {
			item.Containers = append(item.Containers, metricsv1beta1.ContainerMetrics{Name: c.Name, Usage: m.usage(p.PodRef.UID+"/"+c.Name+c.StartTime.String(), c)})
		}
	}
	return item, len(item.Containers) > 0
}

// usage is what something uses now: the rate of its counter since the last reading
// that is old enough, since its start without one.
func (m *metricsAPI) usage(key string, f figures) corev1.ResourceList {
	now := m.s.clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.last[key]
	current := reading{at: now, cpu: f.CPU.Nanoseconds / 1e9}
	switch {
	case known && now.Sub(last.at) < metricsWindow:
		current = last
	case known:
		current.rate = max(0, current.cpu-last.cpu) / now.Sub(last.at).Seconds()
	default:
		current.rate = current.cpu / max(1, now.Sub(f.StartTime.Time).Seconds())
	}
	if len(m.last) > 1<<18 {
		m.last = map[string]reading{} // of pods long gone
	}
	m.last[key] = current
	return corev1.ResourceList{
		corev1.ResourceCPU:    *apiresource.NewScaledQuantity(int64(current.rate*1e9), apiresource.Nano),
		corev1.ResourceMemory: *apiresource.NewQuantity(f.Memory.Bytes, apiresource.BinarySI),
	}
}

// nodeSummary is the part of a kubelet's summary API that is used.
type nodeSummary struct {
	Node figures `json:"node"`
	Pods []struct {
		PodRef struct {
			UID string `json:"uid"`
		} `json:"podRef"`
		Containers []figures `json:"containers"`
	} `json:"pods"`
}

type figures struct {
	Name      string      `json:"name"`
	StartTime metav1.Time `json:"startTime"`
	CPU       struct {
		Nanoseconds float64 `json:"usageCoreNanoSeconds"`
	} `json:"cpu"`
	Memory struct {
		Bytes int64 `json:"workingSetBytes"`
	} `json:"memory"`
}

// summary asks a node's kubelet.
func (m *metricsAPI) summary(ctx context.Context, node *corev1.Node) (*nodeSummary, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return m.s.dialKubelet(ctx, node) }}
	address := net.JoinHostPort(node.Name, strconv.Itoa(kubeletPort(node)))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/stats/summary", nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the kubelet of %s answers %s", node.Name, response.Status)
	}
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	out := &nodeSummary{}
	return out, json.Unmarshal(data, out)
}
