package apiserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

const (
	firstServiceIP = "10.96.0.1"
	// Node ports are 30000 to 32767.
	firstNodePort, nodePorts = 30000, 2768
)

var (
	serviceRange = netip.MustParsePrefix("10.96.0.0/16")
	errTaken     = errors.New("provided IP is already allocated")
)

// serviceAllocator gives Services their cluster addresses and node ports. An
// address is held by an IPAddress object, whose creation is what decides
// between two that want the same, also two API servers. Node ports are counted
// from the Services; the lock orders the allocations of this server.
type serviceAllocator struct {
	s  *Server
	mu sync.Mutex
	// pending are the node ports of Services that are being written.
	pending map[int32]bool
}

func newServiceAllocator(s *Server) *serviceAllocator {
	return &serviceAllocator{s: s, pending: map[int32]bool{}}
}

// assign fills in what a Service lacks, and returns what gives it back in case
// the Service is not written after all.
func (a *serviceAllocator) assign(ctx context.Context, q *request, obj, old runtime.Object) (func(), error) {
	svc, ok := obj.(*corev1.Service)
	if !ok || q.sub.Name != "" {
		return func() {}, nil
	}
	before, _ := old.(*corev1.Service)
	if before == nil {
		before = &corev1.Service{}
	}
	if errs := refuseFamilies(svc); len(errs) > 0 {
		return nil, apierrors.NewInvalid(q.res.GroupVersionKind().GroupKind(), svc.Name, errs)
	}
	undoIP, err := a.assignIP(ctx, q, svc, before)
	if err != nil {
		return nil, err
	}
	undoPorts, err := a.assignPorts(ctx, q, svc, before)
	if err != nil {
		undoIP()
		return nil, err
	}
	return func() { undoIP(); undoPorts() }, nil
}

// refuseFamilies refuses what a cluster with IPv4 alone can't give. A headless
// Service without selector may say what it likes.
func refuseFamilies(svc *corev1.Service) (errs field.ErrorList) {
	headless := svc.Spec.ClusterIP == corev1.ClusterIPNone
	if svc.Spec.Type == corev1.ServiceTypeExternalName || headless && len(svc.Spec.Selector) == 0 {
		return nil
	}
	for i, ip := range svc.Spec.ClusterIPs {
		if i >= len(svc.Spec.IPFamilies) && netutils.IsIPv6String(ip) { // nothing else tells its family
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs").Index(i), svc.Spec.ClusterIPs, "IPv6 is not configured on this cluster"))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	if p := svc.Spec.IPFamilyPolicy; p != nil && *p == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), *p, "this cluster is not configured for dual-stack services"))
	}
	for i, f := range svc.Spec.IPFamilies {
		if f == corev1.IPv6Protocol {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), f, "not configured on this cluster"))
		}
	}
	return errs
}

func needsIP(svc *corev1.Service) bool {
	return svc.Spec.Type != corev1.ServiceTypeExternalName && svc.Spec.ClusterIP != corev1.ClusterIPNone
}

func (a *serviceAllocator) assignIP(ctx context.Context, q *request, svc, before *corev1.Service) (func(), error) {
	none := func() {}
	switch {
	case !needsIP(svc):
		return none, nil
	case svc.Spec.ClusterIP != "" && svc.Spec.ClusterIP == before.Spec.ClusterIP:
		return none, nil
	case svc.Spec.ClusterIP == "" && before.Spec.ClusterIP != "" && before.Spec.ClusterIP != corev1.ClusterIPNone:
		return none, nil // validation refuses the change
	}
	wanted := svc.Spec.ClusterIP
	for tries := 0; ; tries++ {
		ip := wanted
		if ip == "" {
			ip = randomServiceIP()
		}
		err := a.take(ctx, q, ip, svc)
		switch {
		case err == nil:
			svc.Spec.ClusterIP, svc.Spec.ClusterIPs = ip, []string{ip}
			return func() { a.giveBack(ip) }, nil
		case wanted != "":
			return nil, invalidIP(q, svc, err)
		case !errors.Is(err, errTaken) || tries > 1000:
			return nil, apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP: %w", err))
		}
	}
}

func invalidIP(q *request, svc *corev1.Service, err error) error {
	return apierrors.NewInvalid(q.res.GroupVersionKind().GroupKind(), svc.Name, field.ErrorList{
		field.Invalid(field.NewPath("spec", "clusterIPs"), svc.Spec.ClusterIPs, "failed to allocate IP "+svc.Spec.ClusterIP+": "+err.Error()),
	})
}

// randomServiceIP draws an address from the range, but for its first 256, which
// are left to those who ask for one by name.
func randomServiceIP() string {
	b := serviceRange.Addr().As4()
	n := 256 + rand.N(65536-256-1)
	b[2], b[3] = byte(n>>8), byte(n)
	return netip.AddrFrom4(b).String()
}

// take makes the IPAddress that holds ip for a Service.
func (a *serviceAllocator) take(ctx context.Context, q *request, ip string, svc *corev1.Service) error {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return nil // validation says so
	}
	if !serviceRange.Contains(addr) {
		return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, serviceRange)
	}
	res := a.s.table.get("networking.k8s.io", "v1", "ipaddresses")
	if res == nil {
		return errNoResource
	}
	if q.dryRun() {
		if a.s.cache.Resource(res.prefix).Get(res.key("", ip)) != nil {
			return errTaken
		}
		return nil
	}
	obj := &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Name: ip, Labels: map[string]string{
			networkingv1.LabelIPAddressFamily: "IPv4", networkingv1.LabelManagedBy: "ipallocator.k8s.io",
		}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: svc.Namespace, Name: svc.Name}},
	}
	a.s.fillSystemFields(obj)
	obj.Generation = 1
	value, err := a.s.codec.store(res, obj)
	if err != nil {
		return err
	}
	if _, err = a.s.store.Create(ctx, res.key("", ip), value); errors.Is(err, store.ErrExists) {
		return errTaken
	}
	return err
}

// giveBack removes the IPAddress of ip. It outlives the request that failed.
func (a *serviceAllocator) giveBack(ip string) {
	ctx := a.s.ended
	res := a.s.table.get("networking.k8s.io", "v1", "ipaddresses")
	key := res.key("", ip)
	kv, err := a.s.store.Get(ctx, key, 0)
	if err == nil {
		_, err = a.s.store.Delete(ctx, key, kv.Revision)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		a.s.log.Error("Failed to release a service address", "ip", ip, "err", err)
	}
}

// release gives back what a deleted Service held.
func (a *serviceAllocator) release(_ context.Context, obj runtime.Object) {
	if svc, ok := obj.(*corev1.Service); ok && needsIP(svc) && svc.Spec.ClusterIP != "" {
		a.giveBack(svc.Spec.ClusterIP)
	}
}

// assignPorts draws node ports for the Service's ports that lack one.
func (a *serviceAllocator) assignPorts(ctx context.Context, q *request, svc, before *corev1.Service) (func(), error) {
	wants := svc.Spec.Type == corev1.ServiceTypeNodePort || svc.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		(svc.Spec.AllocateLoadBalancerNodePorts == nil || *svc.Spec.AllocateLoadBalancerNodePorts)
	if !wants {
		return func() {}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	used, err := a.usedPorts(ctx, q, svc)
	if err != nil {
		return nil, err
	}
	own := map[int32]bool{}
	for _, p := range before.Spec.Ports {
		own[p.NodePort] = true
	}
	own[before.Spec.HealthCheckNodePort] = true
	taken := drawn{used: used, own: own}
	for i := range svc.Spec.Ports {
		if err := taken.draw(&svc.Spec.Ports[i].NodePort, field.NewPath("spec", "ports").Index(i).Child("nodePort")); err != nil {
			return nil, invalidPort(q, svc, err)
		}
	}
	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		if err := taken.draw(&svc.Spec.HealthCheckNodePort, field.NewPath("spec", "healthCheckNodePort")); err != nil {
			return nil, invalidPort(q, svc, err)
		}
	}
	return a.hold(q, taken.ports), nil
}

// drawn are the node ports that one Service gets.
type drawn struct {
	used, own map[int32]bool
	ports     []int32
}

// draw keeps the port that is wanted, or draws a free one.
func (d *drawn) draw(port *int32, path *field.Path) *field.Error {
	if *port != 0 && d.used[*port] && !d.own[*port] {
		return field.Invalid(path, *port, "provided port is already allocated")
	}
	for *port == 0 {
		if len(d.used) >= nodePorts {
			return field.InternalError(path, errors.New("failed to allocate a nodePort: range is full"))
		}
		if n := int32(firstNodePort + rand.N(nodePorts)); !d.used[n] {
			*port = n
		}
	}
	d.used[*port], d.own[*port] = true, true // two protocols may share one
	d.ports = append(d.ports, *port)
	return nil
}

func invalidPort(q *request, svc *corev1.Service, err *field.Error) error {
	return apierrors.NewInvalid(q.res.GroupVersionKind().GroupKind(), svc.Name, field.ErrorList{err})
}

// hold marks ports as taken until the cache shows the Service, or it failed.
func (a *serviceAllocator) hold(q *request, ports []int32) func() {
	if q.dryRun() {
		return func() {}
	}
	for _, p := range ports {
		a.pending[p] = true
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, p := range ports {
			delete(a.pending, p)
		}
	}
}

// usedPorts are the node ports of all other Services.
func (a *serviceAllocator) usedPorts(ctx context.Context, q *request, self *corev1.Service) (map[int32]bool, error) {
	if err := a.s.cache.Sync(ctx); err != nil {
		return nil, err
	}
	used := map[int32]bool{}
	var err error
	a.s.cache.Resource(q.res.prefix).Snapshot().Each(q.res.prefix, "", func(e *cache.Entry) bool {
		var obj runtime.Object
		if obj, err = a.s.codec.object(q.res, e); err != nil {
			return false
		}
		svc := obj.(*corev1.Service)
		note := func(port int32) {
			if port != 0 {
				used[port] = true
				delete(a.pending, port) // written: the Service itself holds it now
			}
		}
		note(svc.Spec.HealthCheckNodePort)
		for _, p := range svc.Spec.Ports {
			note(p.NodePort)
		}
		return true
	})
	for p := range a.pending {
		used[p] = true
	}
	return used, err
}
