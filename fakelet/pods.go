package fakelet

import (
	"context"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/trace"
)

// pods takes the pods of the played nodes through their lives.
type pods struct {
	client   kubernetes.Interface
	lister   corelisters.PodLister
	clock    clock.Clock
	log      *slog.Logger
	tracer   oteltrace.Tracer
	recorder *recorder
	nodes    *nodes
	ips      *addresses
	delay    time.Duration

	mu   sync.Mutex
	last map[types.UID]write
}

// write is the last write of a pod's status by this process.
type write struct {
	revision int64
	at       time.Time
}

// seen notes what an informer delivers of a pod: its address is taken while it
// runs, and free once its containers have ended, as a CNI plugin sees it.
func (p *pods) seen(pod *corev1.Pod) {
	switch {
	case ended(pod.Status.Phase):
		p.ips.release(pod.UID)
	case pod.Status.PodIP != "" && !pod.Spec.HostNetwork:
		p.ips.keep(pod.UID, pod.Status.PodIP)
	}
}

// gone forgets a pod that was removed.
func (p *pods) gone(pod *corev1.Pod) {
	p.ips.release(pod.UID)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, pod.UID)
}

// sync brings a pod one step on. It returns when to look again, 0 for not before
// the pod changes.
func (p *pods) sync(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	pod, err := p.lister.Pods(namespace).Get(name)
	if err != nil {
		return 0, ignoreGone(err)
	}
	last, current := p.lastWrite(pod)
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror || !current {
		return 0, nil // the cache lags behind our own write, whose event will come
	}
	f, ok, err := p.facts(pod)
	if err != nil || !ok {
		return 0, err
	}
	f.since = last.at
	s := decide(pod, f, p.clock.Now())
	if s.status == nil && !s.remove {
		return s.after, nil
	}
	return s.after, p.take(ctx, pod, s)
}

// facts collects what decide must know; ok is false for a pod of a node that is
// not played.
func (p *pods) facts(pod *corev1.Pod) (f facts, ok bool, err error) {
	hostIP, network, ok := p.nodes.place(pod.Spec.NodeName)
	if !ok {
		return facts{}, false, nil
	}
	f = facts{hostIP: hostIP, podIP: pod.Status.PodIP, delay: p.delay}
	if f.podIP == "" && !pod.Spec.HostNetwork && pod.DeletionTimestamp == nil && !ended(pod.Status.Phase) {
		addr, err := p.ips.take(pod.UID, network)
		if err != nil {
			return facts{}, false, err
		}
		f.podIP = addr.String()
	}
	return f, true, nil
}

// take writes what a step wants, inside a span.
func (p *pods) take(ctx context.Context, pod *corev1.Pod, s step) (err error) {
	object := trace.ObjectName("pods", "", pod.Namespace, pod.Name)
	ctx, span := p.tracer.Start(ctx, "sync pod", oteltrace.WithTimestamp(p.clock.Now()), oteltrace.WithAttributes(
		trace.Component.String("kubelet "+pod.Spec.NodeName), trace.Object.String(object), trace.UID.String(string(pod.UID)),
		trace.Woke.Int64(revisionOf(pod)), trace.WokeObject.String(object), trace.Decision.String(s.decision)))
	defer func() {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End(oteltrace.WithTimestamp(p.clock.Now()))
	}()
	if s.status != nil {
		if err := p.writeStatus(ctx, pod, s.status); err != nil {
			return ignoreGone(err)
		}
	}
	for _, e := range s.events {
		p.recorder.pod(pod, e)
	}
	if s.remove {
		return p.remove(ctx, pod)
	}
	p.log.Debug("Moved a pod on", "pod", pod.Namespace+"/"+pod.Name, "node", pod.Spec.NodeName, "decision", s.decision)
	return nil
}

// writeStatus puts the whole status, on condition that the pod is as decide saw it.
func (p *pods) writeStatus(ctx context.Context, pod *corev1.Pod, status *corev1.PodStatus) error {
	changed := *pod // the cache's object is shared: nothing below its status is touched
	changed.Status = *status
	at := p.clock.Now()
	updated, err := p.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	p.note(pod, write{revision: revisionOf(updated), at: at})
	return nil
}

// remove deletes the pod for good. Nothing is done to it any more, unless
// finalizers hold it.
func (p *pods) remove(ctx context.Context, pod *corev1.Pod) error {
	if len(pod.Finalizers) == 0 {
		p.note(pod, write{revision: math.MaxInt64})
	}
	now := int64(0)
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err): // gone, or another has its name by now
		return nil
	}
	p.note(pod, write{})
	return err
}

func (p *pods) note(pod *corev1.Pod, w write) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[pod.UID] = w
}

// lastWrite returns the last write of a pod's status, and whether the cache has
// caught up with it.
func (p *pods) lastWrite(pod *corev1.Pod) (write, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.last[pod.UID]
	return last, revisionOf(pod) >= last.revision
}

// revisionOf is an object's resourceVersion as a number, to compare two of one object (KEP-5504).
func revisionOf(obj metav1.Object) int64 {
	revision, err := strconv.ParseInt(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return revision
}
