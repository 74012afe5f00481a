package fakelet

import (
	"context"
	"log/slog"
	"math"
	"slices"
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
	runs     *runs
	life     *lifeCycle
	byNode   func(name string) []*corev1.Pod
	delay    time.Duration
	gate     func(ctx context.Context, component, object string)

	mu     sync.Mutex
	last   map[types.UID]write
	memory map[types.UID]memory
	// refresh are pods whose conditions are to be written anew, since their node
	// was away; evicted those that their node gives up, and why.
	refresh map[types.UID]bool
	evicted map[types.UID]string
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
	p.runs.drop(pod.UID)
	p.life.forget(pod.UID)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, pod.UID)
	delete(p.memory, pod.UID)
	delete(p.refresh, pod.UID)
	delete(p.evicted, pod.UID)
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
	if p.gate != nil {
		p.gate(ctx, "kubelet/"+pod.Spec.NodeName, trace.ObjectName("pods", "", namespace, name))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if pod, err = p.lister.Pods(namespace).Get(name); err != nil { // it may have waited
			return 0, ignoreGone(err)
		}
	}
	last, current := p.lastWrite(pod)
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror || !current {
		return 0, nil // the cache lags behind our own write, whose event will come
	}
	if after, own, err := p.playStages(ctx, pod); own || err != nil {
		return after, err
	}
	f, ok, err := p.facts(ctx, pod)
	if err != nil || !ok {
		return 0, err
	}
	if err := p.runs.follow(ctx, pod); err != nil {
		return 0, err
	}
	f.since = last.at
	s := decide(pod, f, p.clock.Now())
	p.remember(pod, s.memory)
	if s.status == nil && !s.remove {
		p.tell(pod, s.events)
		return s.after, nil
	}
	return s.after, p.take(ctx, pod, s)
}

// remember keeps what the next step needs, and forgets what this one was told.
func (p *pods) remember(pod *corev1.Pod, m memory) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(m) > 0 {
		p.memory[pod.UID] = m
	} else {
		delete(p.memory, pod.UID)
	}
	delete(p.refresh, pod.UID)
}

func (p *pods) tell(pod *corev1.Pod, events []event) {
	for _, e := range events {
		p.recorder.pod(pod, e)
	}
}

// giveUp has the next step of a pod evict it.
func (p *pods) giveUp(pod *corev1.Pod, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.evicted[pod.UID] = message
}

// renew has the next step of a pod write its conditions anew.
func (p *pods) renew(pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh[pod.UID] = true
}

// facts collects what decide must know; ok is false for a pod of a node that is
// not played, or that is off.
func (p *pods) facts(ctx context.Context, pod *corev1.Pod) (f facts, ok bool, err error) {
	hostIP, network, ok := p.nodes.place(pod.Spec.NodeName)
	if !ok {
		return facts{}, false, nil
	}
	f = facts{hostIP: hostIP, podIP: pod.Status.PodIP, delay: p.delay + p.nodes.slowness(pod.Spec.NodeName), world: view{p.runs, pod}}
	p.mu.Lock()
	f.memory, f.refresh, f.evicted = p.memory[pod.UID], p.refresh[pod.UID], p.evicted[pod.UID]
	p.mu.Unlock()
	if pod.DeletionTimestamp != nil || ended(pod.Status.Phase) {
		return f, true, nil
	}
	if f.podIP == "" && !pod.Spec.HostNetwork {
		addr, err := p.ips.take(pod.UID, network)
		if err != nil {
			return facts{}, false, err
		}
		f.podIP = addr.String()
	}
	if pod.Status.PodIP == "" { // what starts with this step has its address already
		placed := *pod
		placed.Status.HostIP, placed.Status.PodIP = hostIP, f.podIP
		if pod.Spec.HostNetwork {
			placed.Status.PodIP = hostIP
		}
		f.world = view{p.runs, &placed}
	}
	if pod.Status.StartTime == nil {
		if f.refused = p.admit(pod); f.refused != nil {
			return f, true, nil
		}
	}
	return f, true, p.requirements(ctx, pod, &f)
}

// admit asks whether the pod's node takes it.
func (p *pods) admit(pod *corev1.Pod) *refusal {
	node, err := p.nodes.lister.Get(pod.Spec.NodeName)
	if err != nil {
		return nil
	}
	var others []*corev1.Pod
	for _, o := range p.byNode(pod.Spec.NodeName) {
		last, _ := p.lastWrite(o)
		if o.UID != pod.UID && !ended(o.Status.Phase) && (o.Status.StartTime != nil || last.revision > 0) {
			others = append(others, o)
		}
	}
	return admit(pod, node, others)
}

// requirements looks for the ConfigMaps and Secrets that containers which are about
// to start refer to.
func (p *pods) requirements(ctx context.Context, pod *corev1.Pod, f *facts) error {
	started := false
	for _, c := range containersOf(pod) {
		cs := statusOf(&pod.Status, c.Name)
		if cs != nil && cs.ContainerID != "" {
			started = true
		}
		if cs != nil && (cs.State.Running != nil || cs.State.Terminated != nil) || !refers(c) {
			continue
		}
		// Service variables can't be missing, and are left out here.
		err := p.runs.volumes.own(ctx, pod, c, map[string]string{})
		switch {
		case isMissing(err):
			if f.config == nil {
				f.config = map[string]error{}
			}
			f.config[c.Name] = err
		case err != nil:
			return err
		}
	}
	if started {
		return nil
	}
	err := p.runs.volumes.missing(ctx, pod)
	if isMissing(err) {
		f.mount = err
		return nil
	}
	return err
}

// refers is true for a container whose variables come from elsewhere.
func refers(c *corev1.Container) bool {
	return len(c.EnvFrom) > 0 || slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
		return e.ValueFrom != nil && (e.ValueFrom.ConfigMapKeyRef != nil || e.ValueFrom.SecretKeyRef != nil)
	})
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
	p.tell(pod, s.events)
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
