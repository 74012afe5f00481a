// Package server is the HTTP API of the kubelets, which the API server calls for
// logs, exec, attach, port-forward and figures. One handler speaks for all nodes;
// the Host header says for which, as the name of the node.
//
// Streams are taken over SPDY and over WebSocket, in the versions that kubectl
// speaks. They are what Kubernetes' kubelet offers, but for one path of our own:
// /proxy/NAMESPACE/POD/PORT/… passes a request to a port of a pod, since addresses of
// pods lead nowhere outside of the simulation.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime"
)

// Nodes is what the server asks about the nodes that are played.
type Nodes interface {
	// Node is a node whose kubelet answers.
	Node(name string) (*corev1.Node, bool)
	// Pods are those on a node.
	Pods(node string) []*corev1.Pod
	// Container is a running container.
	Container(ctx context.Context, pod *corev1.Pod, name string) (*runtime.Container, error)
	// Log is the output of a container, or of its run before.
	Log(ctx context.Context, pod *corev1.Pod, name string, previous bool) (*runtime.Log, error)
	// Connect opens a connection to a port of a pod.
	Connect(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error)
	// Usage is what a container uses: seconds of CPU time so far, and bytes of memory.
	Usage(pod *corev1.Pod, container string) (cpuSeconds float64, memory int64)
}

// Server serves the kubelets' API.
type Server struct {
	nodes Nodes
	clock clock.Clock
	log   *slog.Logger
	mux   *http.ServeMux
}

// New returns the handler of all kubelets.
func New(nodes Nodes, c clock.Clock, log *slog.Logger) *Server {
	s := &Server{nodes: nodes, clock: c, log: log, mux: http.NewServeMux()}
	s.mux.HandleFunc("/healthz", s.node(func(w http.ResponseWriter, _ *http.Request, _ *corev1.Node) { fmt.Fprint(w, "ok") }))
	s.mux.HandleFunc("/pods", s.node(s.pods))
	s.mux.HandleFunc("/stats/summary", s.node(s.summary))
	s.mux.HandleFunc("/metrics/resource", s.node(s.resource))
	s.mux.HandleFunc("/metrics", s.node(s.metrics))
	s.mux.HandleFunc("/configz", s.node(s.configz))
	s.mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", s.pod(s.logs))
	s.mux.HandleFunc("/exec/{namespace}/{pod}/{container}", s.pod(s.exec))
	s.mux.HandleFunc("/attach/{namespace}/{pod}/{container}", s.pod(s.attach))
	s.mux.HandleFunc("/portForward/{namespace}/{pod}", s.pod(s.portForward))
	s.mux.HandleFunc("/proxy/{namespace}/{pod}/{port}/{path...}", s.pod(s.proxy))
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// node finds the node that a request is for.
func (s *Server) node(serve func(http.ResponseWriter, *http.Request, *corev1.Node)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			name = r.Host
		}
		node, ok := s.nodes.Node(name)
		if !ok {
			http.Error(w, fmt.Sprintf("no kubelet of a node %q is here", name), http.StatusServiceUnavailable)
			return
		}
		serve(w, r, node)
	}
}

// pod finds the pod that a request is for.
func (s *Server) pod(serve func(http.ResponseWriter, *http.Request, *corev1.Pod)) http.HandlerFunc {
	return s.node(func(w http.ResponseWriter, r *http.Request, node *corev1.Node) {
		for _, pod := range s.nodes.Pods(node.Name) {
			if pod.Namespace == r.PathValue("namespace") && pod.Name == r.PathValue("pod") {
				serve(w, r, pod)
				return
			}
		}
		http.Error(w, fmt.Sprintf("pod %q does not exist", r.PathValue("pod")), http.StatusNotFound)
	})
}

// proxy passes a request to a port of a pod.
func (s *Server) proxy(w http.ResponseWriter, r *http.Request, pod *corev1.Pod) {
	port, err := strconv.Atoi(r.PathValue("port"))
	if err != nil {
		http.Error(w, "bad port", http.StatusBadRequest)
		return
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return s.nodes.Connect(ctx, pod, port)
	}}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = "http", net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(port))
			p.Out.Host = p.Out.URL.Host
			p.Out.URL.RawPath = ""
			p.Out.URL.Path = "/" + strings.TrimPrefix(r.PathValue("path"), "/")
			p.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			message := err.Error()
			if errors.Is(err, runtime.ErrRefused) {
				message = fmt.Sprintf("dial tcp %s: connect: connection refused", net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(port)))
			}
			http.Error(w, message, http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, r)
}
