package fakelet

import (
	"context"
	"strconv"

	oteltrace "go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/trace"
)

// sync brings a pod one step on.
func (f *fakelet) sync(ctx context.Context, k string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(k)
	if err != nil {
		return err
	}
	pod, err := f.pods.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	node, ok := f.nodes.get(pod.Spec.NodeName)
	if !ok {
		return nil // another kubelet's
	}
	ip := pod.Status.PodIP
	if ip == "" && pod.DeletionTimestamp == nil && !pod.Spec.HostNetwork {
		if ip, err = f.ips.take(string(pod.UID), node.podCIDR); err != nil {
			return err
		}
	}
	s := next(pod, ip, node.ip, f.clock.Now())
	if s.after > 0 {
		f.queue.AddAfter(k, s.after)
	}
	if s.status == nil && !s.remove {
		return nil
	}
	return f.take(ctx, pod, s)
}

// take writes what a step wants, inside a span.
func (f *fakelet) take(ctx context.Context, pod *corev1.Pod, s step) error {
	revision, _ := strconv.ParseInt(pod.ResourceVersion, 10, 64)
	object := trace.ObjectName("pods", "", pod.Namespace, pod.Name)
	ctx, span := f.tracer.Start(ctx, "sync pod", oteltrace.WithTimestamp(f.clock.Now()), oteltrace.WithAttributes(
		trace.Component.String("kubelet "+pod.Spec.NodeName), trace.Object.String(object), trace.UID.String(string(pod.UID)),
		trace.Woke.Int64(revision), trace.WokeObject.String(object), trace.Decision.String(s.words)))
	defer func() { span.End(oteltrace.WithTimestamp(f.clock.Now())) }()
	for _, e := range s.events {
		f.told.send(pod, e)
	}
	if s.status != nil {
		changed := pod.DeepCopy()
		changed.Status = *s.status
		if _, err := f.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{}); err != nil {
			return ignoreGone(err)
		}
	}
	if !s.remove {
		return nil
	}
	now := int64(0)
	return ignoreGone(f.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	}))
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
