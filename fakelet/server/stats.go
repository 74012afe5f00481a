package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Server) pods(w http.ResponseWriter, _ *http.Request, node *corev1.Node) {
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	for _, pod := range s.nodes.Pods(node.Name) {
		list.Items = append(list.Items, *pod)
	}
	writeJSON(w, list)
}

func (s *Server) configz(w http.ResponseWriter, _ *http.Request, _ *corev1.Node) {
	writeJSON(w, map[string]any{"kubeletconfig": map[string]any{"maxPods": 110, "nodeStatusUpdateFrequency": "10s", "nodeLeaseDurationSeconds": 40}})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// used is what the running containers of a pod use.
type used struct {
	name   string
	cpu    float64 // seconds
	memory int64
	since  time.Time
}

func (s *Server) usage(pod *corev1.Pod) []used {
	var out []used
	for _, cs := range pod.Status.ContainerStatuses {
		if cs.State.Running == nil {
			continue
		}
		cpu, memory := s.nodes.Usage(pod, cs.Name)
		out = append(out, used{cs.Name, cpu, memory, cs.State.Running.StartedAt.Time})
	}
	return out
}

// resource is what metrics-server reads.
func (s *Server) resource(w http.ResponseWriter, _ *http.Request, node *corev1.Node) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	now := s.clock.Now().UnixMilli()
	var cpu float64
	var memory int64
	fmt.Fprint(w, "# TYPE container_cpu_usage_seconds_total counter\n# TYPE container_memory_working_set_bytes gauge\n# TYPE pod_cpu_usage_seconds_total counter\n# TYPE pod_memory_working_set_bytes gauge\n")
	for _, pod := range s.nodes.Pods(node.Name) {
		var podCPU float64
		var podMemory int64
		for _, u := range s.usage(pod) {
			labels := fmt.Sprintf("{container=%q,namespace=%q,pod=%q}", u.name, pod.Namespace, pod.Name)
			fmt.Fprintf(w, "container_cpu_usage_seconds_total%s %g %d\n", labels, u.cpu, now)
			fmt.Fprintf(w, "container_memory_working_set_bytes%s %d %d\n", labels, u.memory, now)
			fmt.Fprintf(w, "container_start_time_seconds%s %d %d\n", labels, u.since.Unix(), now)
			podCPU, podMemory = podCPU+u.cpu, podMemory+u.memory
		}
		labels := fmt.Sprintf("{namespace=%q,pod=%q}", pod.Namespace, pod.Name)
		fmt.Fprintf(w, "pod_cpu_usage_seconds_total%s %g %d\npod_memory_working_set_bytes%s %d %d\n", labels, podCPU, now, labels, podMemory, now)
		cpu, memory = cpu+podCPU, memory+podMemory
	}
	cpu, memory = cpu+s.idle(node), memory+nodeMemory
	fmt.Fprintf(w, "# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total %g %d\n# TYPE node_memory_working_set_bytes gauge\nnode_memory_working_set_bytes %d %d\n", cpu, now, memory, now)
}

const (
	// nodeMemory and nodeCPU are what the daemons of a node take.
	nodeMemory = 256 << 20
	nodeCPU    = 0.02
)

func (s *Server) idle(node *corev1.Node) float64 {
	return nodeCPU * s.clock.Since(node.CreationTimestamp.Time).Seconds()
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request, node *corev1.Node) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	running := 0
	for _, pod := range s.nodes.Pods(node.Name) {
		if pod.Status.Phase == corev1.PodRunning {
			running++
		}
	}
	fmt.Fprintf(w, "# TYPE kubelet_running_pods gauge\nkubelet_running_pods %d\n# TYPE kubelet_node_name gauge\nkubelet_node_name{node=%q} 1\n", running, node.Name)
}

// figures are the part of the summary API that is filled.
type figures struct {
	Time   metav1.Time `json:"time"`
	CPU    uint64      `json:"usageCoreNanoSeconds,omitempty"`
	Memory uint64      `json:"workingSetBytes,omitempty"`
}

type measured struct {
	Name      string          `json:"name,omitempty"`
	NodeName  string          `json:"nodeName,omitempty"`
	PodRef    *map[string]any `json:"podRef,omitempty"`
	StartTime metav1.Time     `json:"startTime"`
	CPU       *figures        `json:"cpu,omitempty"`
	Memory    *figures        `json:"memory,omitempty"`
	// Containers are those of a pod.
	Containers []measured `json:"containers,omitempty"`
}

func (s *Server) measure(cpu float64, memory int64, since metav1.Time) measured {
	now := metav1.NewTime(s.clock.Now())
	return measured{StartTime: since, CPU: &figures{Time: now, CPU: uint64(cpu * 1e9)}, Memory: &figures{Time: now, Memory: uint64(memory)}}
}

func (s *Server) summary(w http.ResponseWriter, _ *http.Request, node *corev1.Node) {
	total, memory := s.idle(node), int64(nodeMemory)
	pods := []measured{}
	for _, pod := range s.nodes.Pods(node.Name) {
		if pod.Status.StartTime == nil {
			continue
		}
		var containers []measured
		var podCPU float64
		var podMemory int64
		for _, u := range s.usage(pod) {
			c := s.measure(u.cpu, u.memory, metav1.NewTime(u.since))
			c.Name = u.name
			containers = append(containers, c)
			podCPU, podMemory = podCPU+u.cpu, podMemory+u.memory
		}
		p := s.measure(podCPU, podMemory, *pod.Status.StartTime)
		p.PodRef = &map[string]any{"name": pod.Name, "namespace": pod.Namespace, "uid": pod.UID}
		p.Containers = containers
		pods = append(pods, p)
		total, memory = total+podCPU, memory+podMemory
	}
	n := s.measure(total, memory, node.CreationTimestamp)
	n.NodeName = node.Name
	writeJSON(w, map[string]any{"node": n, "pods": pods})
}
