// Package servicelb gives Services of type LoadBalancer an address of a pool, in
// the place of a cloud provider.
//
//	watches     Services
//	owns        status.loadBalancer of Services of that type without a class
//	writes      Services: that status, and the finalizer
//	            service.kubernetes.io/load-balancer-cleanup
//	invariants  no two Services have the same address
//
// The addresses lead nowhere.
package servicelb

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/controllers/runner"
)

const finalizer = "service.kubernetes.io/load-balancer-cleanup"

var errExhausted = errors.New("no address is left in the pool of load balancers")

// Controller reconciles Services.
type Controller struct {
	client   kubernetes.Interface
	events   record.EventRecorder
	services corelisters.ServiceLister
	pool     pool // of the only worker
	survey   sync.Once
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	services := env.Informers.Core().V1().Services()
	c := &Controller{
		client: env.Client, events: env.Events("service-controller"), services: services.Lister(),
		pool: pool{network: netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 19, 255, 0}), 24), holders: map[netip.Addr]runner.Key{}},
	}
	resource := corev1.Resource("services")
	return runner.Controller{
		Name: "service-lb-controller", Resource: resource, Reconcile: c.Reconcile, Workers: 1,
		Watches: []runner.Watch{{Resource: resource, Informer: services.Informer(), Keys: runner.Self}},
	}, nil
}

// wants tells whether a Service is to have an address of ours.
func wants(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil && service.DeletionTimestamp == nil
}

// Reconcile gives one Service its address, or takes it back.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	c.survey.Do(c.holdAll)
	service, err := c.services.Services(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.pool.release(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	switch {
	case wants(service):
		return 0, c.ensure(ctx, key, service)
	case slices.Contains(service.Finalizers, finalizer):
		return 0, c.remove(ctx, key, service)
	}
	return 0, nil
}

// holdAll notes the addresses that are taken before the first one is given.
func (c *Controller) holdAll() {
	services, err := c.services.List(labels.Everything())
	if err != nil {
		return // a lister's never fails
	}
	for _, service := range services {
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			if address, err := netip.ParseAddr(ingress.IP); err == nil && wants(service) {
				c.pool.holders[address] = cache.MetaObjectToName(service)
			}
		}
	}
}

func (c *Controller) ensure(ctx context.Context, key runner.Key, service *corev1.Service) error {
	if !slices.Contains(service.Finalizers, finalizer) {
		changed := service.DeepCopy()
		changed.Finalizers = append(changed.Finalizers, finalizer)
		c.events.Event(service, corev1.EventTypeNormal, "EnsuringLoadBalancer", "Ensuring load balancer")
		_, err := c.client.CoreV1().Services(key.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
		return err // its event brings the next step
	}
	address, err := c.pool.take(key, service.Spec.LoadBalancerIP)
	if err != nil {
		c.events.Eventf(service, corev1.EventTypeWarning, "SyncLoadBalancerFailed", "Error syncing load balancer: failed to ensure load balancer: %v", err)
		return err
	}
	status := corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: address.String(), IPMode: ptr.To(corev1.LoadBalancerIPModeVIP)}}}
	if equality.Semantic.DeepEqual(service.Status.LoadBalancer, status) {
		return nil
	}
	runner.Decide(ctx, "assign %s", address)
	if err := c.writeStatus(ctx, service, status); err != nil {
		return err
	}
	c.events.Event(service, corev1.EventTypeNormal, "EnsuredLoadBalancer", "Ensured load balancer")
	return nil
}

// remove takes the address back, and then lets the Service go.
func (c *Controller) remove(ctx context.Context, key runner.Key, service *corev1.Service) error {
	if len(service.Status.LoadBalancer.Ingress) > 0 && service.DeletionTimestamp == nil {
		return c.writeStatus(ctx, service, corev1.LoadBalancerStatus{}) // its event brings the next step
	}
	c.events.Event(service, corev1.EventTypeNormal, "DeletingLoadBalancer", "Deleting load balancer")
	c.pool.release(key)
	changed := service.DeepCopy()
	changed.Finalizers = slices.DeleteFunc(changed.Finalizers, func(f string) bool { return f == finalizer })
	_, err := c.client.CoreV1().Services(key.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		err = nil
	}
	if err == nil {
		c.events.Event(service, corev1.EventTypeNormal, "DeletedLoadBalancer", "Deleted load balancer")
	}
	return err
}

func (c *Controller) writeStatus(ctx context.Context, service *corev1.Service, status corev1.LoadBalancerStatus) error {
	changed := *service
	changed.Status.LoadBalancer = status
	_, err := c.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// pool hands out addresses.
type pool struct {
	network netip.Prefix
	holders map[netip.Addr]runner.Key
}

// take gives a Service the address that it asks for, the one that it has, or
// else the lowest free one.
func (p *pool) take(key runner.Key, wanted string) (netip.Addr, error) {
	if address, err := netip.ParseAddr(wanted); err == nil && p.network.Contains(address) {
		if holder, held := p.holders[address]; !held || holder == key {
			p.release(key)
			p.holders[address] = key
			return address, nil
		}
	}
	for address, holder := range p.holders {
		if holder == key {
			return address, nil
		}
	}
	for address := p.network.Addr().Next(); p.network.Contains(address.Next()); address = address.Next() {
		if _, held := p.holders[address]; !held {
			p.holders[address] = key
			return address, nil
		}
	}
	return netip.Addr{}, errExhausted
}

func (p *pool) release(key runner.Key) {
	for address, holder := range p.holders {
		if holder == key {
			delete(p.holders, address)
		}
	}
}
