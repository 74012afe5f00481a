package fakelet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/fakelet/runtime"
	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// network is the simulated network of the cluster: names as its DNS has them,
// Services by their EndpointSlices, and pods. It asks the API when it is used, and
// leads to nothing else.
type network struct {
	client kubernetes.Interface
	nodes  *nodes
	runs   *runs
	// byIP are the pods with an address.
	byIP func(ip string) []*corev1.Pod
}

// of is the network as a pod has it.
func (n *network) of(pod *corev1.Pod) podNetwork { return podNetwork{n, pod} }

type podNetwork struct {
	*network
	pod *corev1.Pod
}

// Addresses implements process.Network.
func (n podNetwork) Addresses() []string { return []string{n.pod.Status.PodIP} }

// Search are the domains that names are looked for in.
func (n podNetwork) Search() string {
	return n.pod.Namespace + ".svc.cluster.local svc.cluster.local cluster.local"
}

// Listen implements process.Network. A container listens by itself.
func (n podNetwork) Listen(int) (net.Listener, error) { return nil, runtime.ErrRefused }

// LookupHost implements process.Network.
func (n podNetwork) LookupHost(ctx context.Context, host string) ([]string, error) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}, nil
	}
	switch {
	case host == "localhost":
		return []string{"127.0.0.1"}, nil
	case host == hostnameOf(n.pod) && n.pod.Status.PodIP != "":
		return []string{n.pod.Status.PodIP}, nil
	}
	for _, alias := range n.pod.Spec.HostAliases {
		if slices.Contains(alias.Hostnames, host) {
			return []string{alias.IP}, nil
		}
	}
	return n.resolve(ctx, n.pod.Namespace, host, 0)
}

// resolve looks a name up as the pod's resolver does: with each domain of the
// search list behind it.
func (n *network) resolve(ctx context.Context, namespace, host string, depth int) ([]string, error) {
	for _, suffix := range []string{"", "." + namespace + ".svc.cluster.local", ".svc.cluster.local", ".cluster.local"} {
		inside, ok := strings.CutSuffix(host+suffix, ".cluster.local")
		if !ok {
			continue
		}
		ips, err := n.inCluster(ctx, inside, depth)
		if err != nil || len(ips) > 0 {
			return ips, err
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// inCluster are the addresses of a name without cluster.local.
func (n *network) inCluster(ctx context.Context, name string, depth int) ([]string, error) {
	parts := strings.Split(name, ".")
	if len(parts) == 3 && parts[2] == "pod" {
		ip := strings.ReplaceAll(parts[0], "-", ".")
		if _, err := netip.ParseAddr(ip); err == nil {
			return []string{ip}, nil
		}
	}
	if len(parts) < 3 || len(parts) > 4 || parts[len(parts)-1] != "svc" {
		return nil, nil
	}
	namespace, service := parts[len(parts)-2], parts[len(parts)-3]
	s, err := n.client.CoreV1().Services(namespace).Get(ctx, service, metav1.GetOptions{})
	if err != nil {
		return nil, ignoreGone(err)
	}
	switch {
	case s.Spec.Type == corev1.ServiceTypeExternalName && depth < 4:
		return n.resolve(ctx, namespace, s.Spec.ExternalName, depth+1)
	case s.Spec.ClusterIP != corev1.ClusterIPNone && len(parts) == 3:
		return []string{s.Spec.ClusterIP}, nil
	}
	slices, err := n.slices(ctx, s)
	if err != nil {
		return nil, err
	}
	var ips []string
	for _, slice := range slices {
		for _, e := range slice.Endpoints {
			named := len(parts) == 3 || e.Hostname != nil && *e.Hostname == parts[0]
			if named && (isReady(e) || s.Spec.PublishNotReadyAddresses) {
				ips = append(ips, e.Addresses...)
			}
		}
	}
	return ips, nil
}

func (n *network) slices(ctx context.Context, s *corev1.Service) ([]discoveryv1.EndpointSlice, error) {
	list, err := n.client.DiscoveryV1().EndpointSlices(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + s.Name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func isReady(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }

// Dial implements process.Network.
func (n podNetwork) Dial(ctx context.Context, host string, port int) (net.Conn, error) {
	ips, err := n.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	if ips[0] == "127.0.0.1" || ips[0] == "0.0.0.0" || ips[0] == n.pod.Status.PodIP {
		return n.runs.connect(ctx, n.pod, port)
	}
	return n.dial(ctx, ips[rand.IntN(len(ips))], port)
}

// dial connects to an address of the cluster: of a pod, a Service or a node.
func (n *network) dial(ctx context.Context, ip string, port int) (net.Conn, error) {
	if pods := n.byIP(ip); len(pods) > 0 {
		return n.toPod(ctx, pods, port)
	}
	services, err := n.client.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	isNode := n.nodes.hasAddress(ip)
	for i := range services.Items {
		s := &services.Items[i]
		for _, p := range s.Spec.Ports {
			if slices.Contains(addressesOf(s), ip) && int(p.Port) == port || isNode && int(p.NodePort) == port {
				return n.toService(ctx, s, p)
			}
		}
	}
	if isNode {
		return nil, runtime.ErrRefused
	}
	return nil, timeout(fmt.Sprintf("dial tcp %s: i/o timeout", net.JoinHostPort(ip, strconv.Itoa(port))))
}

func addressesOf(s *corev1.Service) []string {
	ips := slices.Concat(s.Spec.ClusterIPs, s.Spec.ExternalIPs)
	for _, ingress := range s.Status.LoadBalancer.Ingress {
		ips = append(ips, ingress.IP)
	}
	return ips
}

// toService connects to one of a Service's ready endpoints, or to a serving one
// that terminates if there is none, as kube-proxy does.
func (n *network) toService(ctx context.Context, s *corev1.Service, port corev1.ServicePort) (net.Conn, error) {
	list, err := n.slices(ctx, s)
	if err != nil {
		return nil, err
	}
	type target struct {
		ip   string
		port int
	}
	var ready, serving []target
	for _, slice := range list {
		at := slices.IndexFunc(slice.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Port != nil && (p.Name == nil && port.Name == "" || p.Name != nil && *p.Name == port.Name)
		})
		if at < 0 {
			continue
		}
		for _, e := range slice.Endpoints {
			t := target{e.Addresses[0], int(*slice.Ports[at].Port)}
			switch {
			case isReady(e):
				ready = append(ready, t)
			case e.Conditions.Serving != nil && *e.Conditions.Serving:
				serving = append(serving, t)
			}
		}
	}
	if len(ready) == 0 {
		ready = serving
	}
	if len(ready) == 0 {
		return nil, runtime.ErrRefused
	}
	chosen := ready[rand.IntN(len(ready))]
	return n.toPod(ctx, n.byIP(chosen.ip), chosen.port)
}

func (n *network) toPod(ctx context.Context, pods []*corev1.Pod, port int) (net.Conn, error) {
	for _, pod := range pods {
		if n.nodes.cut(pod.Spec.NodeName) {
			return nil, timeout(fmt.Sprintf("dial tcp %s: i/o timeout", net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(port))))
		}
		if conn, err := n.runs.connect(ctx, pod, port); err == nil {
			return conn, nil
		}
	}
	return nil, runtime.ErrRefused
}

// timeout is the error of a connection that nobody answers.
type timeout string

// Error implements error, and with the rest net.Error.
func (t timeout) Error() string { return string(t) }

// Timeout implements net.Error.
func (timeout) Timeout() bool { return true }

// Temporary implements net.Error.
func (timeout) Temporary() bool { return true }

var _ process.Network = podNetwork{}

// connect opens a connection to the container of a pod that has the port open. One
// that names it comes before one that would take any.
func (r *runs) connect(ctx context.Context, pod *corev1.Pod, port int) (net.Conn, error) {
	var open []*corev1.Container
	for _, c := range containersOf(pod) {
		cs := statusOf(&pod.Status, c.Name)
		if cs == nil || cs.State.Running == nil {
			continue
		}
		plan := planOf(pod, c)
		listens := plan.Listens(port)
		if current := (view{r, pod}).run(cs); current != nil && current.container != nil {
			listens = current.container.Listening(port)
		}
		names := slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return int(p.ContainerPort) == port })
		switch {
		case listens && names:
			open = slices.Insert(open, 0, c)
		case listens:
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return nil, runtime.ErrRefused
	}
	current, err := r.of(pod).open(ctx, open[0], statusOf(&pod.Status, open[0].Name))
	if err != nil {
		return nil, err
	}
	return current.container.Connect(port)
}
