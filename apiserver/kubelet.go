package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/cache"
)

const (
	// kubeletAddressAnnotation on a Node says where its simulated kubelet listens, since
	// the node's own address leads nowhere. Only loopback addresses are followed.
	kubeletAddressAnnotation = "kubesim.io/kubelet-address"
	kubeletDialTimeout       = 5 * time.Second
)

// onNode finds the handler of what a kubelet answers, nil for anything else.
func (s *Server) onNode(q *request) handler {
	switch q.res.Resource + "/" + q.sub.Name {
	case "pods/log":
		return s.podLog
	case "pods/exec", "pods/attach":
		return s.podStream
	case "pods/portforward":
		return s.podForward
	case "pods/proxy":
		return s.podProxy
	case "services/proxy":
		return s.serviceProxy
	case "nodes/proxy":
		return s.nodeProxy
	}
	return nil
}

// hostedPod is the pod of a request, on a node.
func (s *Server) hostedPod(ctx context.Context, q *request, name string) (*corev1.Pod, error) {
	if err := s.fresh(ctx, ""); err != nil {
		return nil, err
	}
	pods := s.table.get("", "v1", "pods")
	e := s.cache.Resource(pods.prefix).Get(pods.key(q.namespace, name))
	if e == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	obj, err := s.codec.object(pods, e)
	if err != nil {
		return nil, err
	}
	pod := obj.(*corev1.Pod)
	if pod.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", name))
	}
	return pod, nil
}

// containerOf is the container that a request means: the only one, if it names none.
func containerOf(pod *corev1.Pod, name string) (string, error) {
	var names, inits, ephemeral []string
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.InitContainers {
		inits = append(inits, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		ephemeral = append(ephemeral, pod.Spec.EphemeralContainers[i].Name)
	}
	switch {
	case name != "" && !slices.Contains(slices.Concat(names, inits, ephemeral), name):
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
	case name != "":
		return name, nil
	case len(names) == 1 && len(ephemeral) == 0 && len(inits) == 0, len(names) == 1:
		return names[0], nil
	}
	message := fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, names)
	if len(inits) > 0 {
		message += fmt.Sprintf(" or one of the init containers: %s", inits)
	}
	return "", apierrors.NewBadRequest(message)
}

func (s *Server) podLog(ctx context.Context, q *request) error {
	pod, err := s.hostedPod(ctx, q, q.name)
	if err != nil {
		return err
	}
	container, err := containerOf(pod, q.query.Get("container"))
	if err != nil {
		return err
	}
	for _, name := range []string{"tailLines", "limitBytes", "sinceSeconds"} {
		if text := q.query.Get(name); text != "" {
			if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 0 || n == 0 && name != "tailLines" {
				return apierrors.NewBadRequest(fmt.Sprintf("%s: bad value %q", name, text))
			}
		}
	}
	query := url.Values{}
	for _, name := range []string{"follow", "previous", "timestamps", "tailLines", "limitBytes", "sinceSeconds", "sinceTime"} {
		if q.query.Has(name) {
			query.Set(name, q.query.Get(name))
		}
	}
	return s.toKubelet(q, pod.Spec.NodeName, "/containerLogs/"+pod.Namespace+"/"+pod.Name+"/"+container, query)
}

func (s *Server) podStream(ctx context.Context, q *request) error {
	pod, err := s.hostedPod(ctx, q, q.name)
	if err != nil {
		return err
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot exec into a container in a completed pod; current phase is %s", pod.Status.Phase))
	}
	container, err := containerOf(pod, q.query.Get("container"))
	if err != nil {
		return err
	}
	query := url.Values{"command": q.query["command"]}
	for from, to := range map[string]string{"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"} {
		if isSet(q.query, from) {
			query.Set(to, "1")
		}
	}
	return s.toKubelet(q, pod.Spec.NodeName, "/"+q.sub.Name+"/"+pod.Namespace+"/"+pod.Name+"/"+container, query)
}

func (s *Server) podForward(ctx context.Context, q *request) error {
	pod, err := s.hostedPod(ctx, q, q.name)
	if err != nil {
		return err
	}
	return s.toKubelet(q, pod.Spec.NodeName, "/portForward/"+pod.Namespace+"/"+pod.Name, q.query)
}

// target takes apart a name such as https:web:8080, as proxied paths have it.
func target(name string) (object, port string) {
	parts := strings.Split(name, ":")
	switch len(parts) {
	case 2:
		return parts[0], parts[1]
	case 3:
		return parts[1], parts[2]
	}
	return name, ""
}

func (s *Server) podProxy(ctx context.Context, q *request) error {
	name, port := target(q.name)
	pod, err := s.hostedPod(ctx, q, name)
	if err != nil {
		return err
	}
	if port == "" {
		port = "80"
		for i := range pod.Spec.Containers {
			if ports := pod.Spec.Containers[i].Ports; len(ports) > 0 {
				port = strconv.Itoa(int(ports[0].ContainerPort))
				break
			}
		}
	}
	return s.toPod(q, pod, port)
}

func (s *Server) toPod(q *request, pod *corev1.Pod, port string) error {
	return s.toKubelet(q, pod.Spec.NodeName, "/proxy/"+pod.Namespace+"/"+pod.Name+"/"+port+"/"+q.proxied(), q.query)
}

// proxied is the path behind a proxy subresource, with its final slash.
func (q *request) proxied() string {
	if q.rest != "" && strings.HasSuffix(q.r.URL.Path, "/") {
		return q.rest + "/"
	}
	return q.rest
}

// serviceProxy passes a request to one of the Service's ready endpoints.
func (s *Server) serviceProxy(ctx context.Context, q *request) error {
	name, port := target(q.name)
	if err := s.fresh(ctx, ""); err != nil {
		return err
	}
	services := s.table.get("", "v1", "services")
	if s.cache.Resource(services.prefix).Get(services.key(q.namespace, name)) == nil {
		return apierrors.NewNotFound(corev1.Resource("services"), name)
	}
	pod, number, err := s.endpoint(q.namespace, name, port)
	if err != nil {
		return err
	}
	if pod != "" {
		hosted, err := s.hostedPod(ctx, q, pod)
		if err != nil {
			return err
		}
		return s.toPod(q, hosted, number)
	}
	return statusError(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, nil, "no endpoints available for service %q", q.name)
}

// endpoint is a ready endpoint of a Service, "" if there is none.
func (s *Server) endpoint(namespace, service, port string) (pod, number string, err error) {
	res := s.table.get(discoveryv1.GroupName, "v1", "endpointslices")
	s.cache.Resource(res.prefix).Snapshot().Each(res.key(namespace, ""), "", func(e *cache.Entry) bool {
		if e.Labels()[discoveryv1.LabelServiceName] != service {
			return true
		}
		var obj runtime.Object
		if obj, err = s.codec.object(res, e); err == nil {
			pod, number = readyPod(obj.(*discoveryv1.EndpointSlice), port)
		}
		return err == nil && pod == ""
	})
	return pod, number, err
}

// readyPod is a ready endpoint of a slice, and the port that a name, a number or
// nothing means there.
func readyPod(slice *discoveryv1.EndpointSlice, port string) (pod, number string) {
	for _, p := range slice.Ports {
		if p.Port == nil || port != "" && strconv.Itoa(int(*p.Port)) != port && (p.Name == nil || *p.Name != port) {
			continue
		}
		for _, e := range slice.Endpoints {
			if (e.Conditions.Ready == nil || *e.Conditions.Ready) && e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
				return e.TargetRef.Name, strconv.Itoa(int(*p.Port))
			}
		}
	}
	return "", ""
}

func (s *Server) nodeProxy(_ context.Context, q *request) error {
	name, _ := target(q.name)
	return s.toKubelet(q, name, "/"+q.proxied(), q.query)
}

// toKubelet passes a request to the kubelet of a node, upgrades to streams included.
func (s *Server) toKubelet(q *request, nodeName, path string, query url.Values) error {
	nodes := s.table.get("", "v1", "nodes")
	e := s.cache.Resource(nodes.prefix).Get(nodes.key("", nodeName))
	if e == nil {
		return apierrors.NewNotFound(corev1.Resource("nodes"), nodeName)
	}
	obj, err := s.codec.object(nodes, e)
	if err != nil {
		return err
	}
	node := obj.(*corev1.Node)
	var failure error
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return s.dialKubelet(ctx, node)
		}},
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL = &url.URL{Scheme: "http", Host: net.JoinHostPort(nodeName, strconv.Itoa(kubeletPort(node))), Path: path, RawQuery: query.Encode()}
			p.Out.Host = p.Out.URL.Host
			p.Out.Header.Del("Authorization")
			p.Out.Header.Del("Origin") // the filters have looked at it
		},
		ModifyResponse: func(r *http.Response) error {
			failure = kubeletError(r)
			return failure
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			if failure == nil {
				failure = statusError(http.StatusInternalServerError, metav1.StatusReasonInternalError, nil,
					"error dialing backend: %v", err)
			}
		},
	}
	proxy.ServeHTTP(q.w, q.r)
	return failure
}

// kubeletError turns a kubelet's error about a pod into one of the API.
func kubeletError(r *http.Response) error {
	path := r.Request.URL.Path
	if r.StatusCode < 400 || strings.HasPrefix(path, "/proxy/") || strings.Count(path, "/") < 3 {
		return nil
	}
	text := make([]byte, 4096)
	n, _ := r.Body.Read(text)
	_ = r.Body.Close()
	reason := metav1.StatusReasonInternalError
	switch r.StatusCode {
	case http.StatusBadRequest:
		reason = metav1.StatusReasonBadRequest
	case http.StatusNotFound:
		reason = metav1.StatusReasonNotFound
	}
	return statusError(r.StatusCode, reason, nil, "%s", strings.TrimSpace(string(text[:n])))
}

func kubeletPort(node *corev1.Node) int {
	return int(cmp.Or(node.Status.DaemonEndpoints.KubeletEndpoint.Port, 10250))
}

// dialKubelet connects to a node's kubelet: one in this process, one that a fakelet
// plays in its own, or a real one at the node's address.
func (s *Server) dialKubelet(ctx context.Context, node *corev1.Node) (net.Conn, error) {
	dialer := net.Dialer{Timeout: kubeletDialTimeout}
	if address := node.Annotations[kubeletAddressAnnotation]; address != "" {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return nil, fmt.Errorf("%s of node %s is %q, which is no loopback address", kubeletAddressAnnotation, node.Name, address)
		}
		return dialer.DialContext(ctx, "tcp", address)
	}
	if s.cfg.DialKubelet != nil {
		return s.cfg.DialKubelet(ctx, node.Name)
	}
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.Address, strconv.Itoa(kubeletPort(node))))
		}
	}
	return nil, fmt.Errorf("node %s has no address", node.Name)
}
