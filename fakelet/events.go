package fakelet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Events must not slow the pods: they wait in a bounded queue, and are dropped
// when that is full.
const (
	eventQueue   = 10000
	eventWriters = 2
)

type events struct {
	f     *fakelet
	queue chan *corev1.Event
	count atomic.Int64 // tells events of one instant apart
}

func newEvents(f *fakelet) *events {
	return &events{f: f, queue: make(chan *corev1.Event, eventQueue)}
}

func (e *events) send(pod *corev1.Pod, ev event) {
	now := metav1.NewTime(e.f.clock.Now())
	out := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: fmt.Sprintf("%s.%x", pod.Name, now.UnixNano()+e.count.Add(1))},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Type: ev.kind, Reason: ev.reason, Message: ev.message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		ReportingController: "kubelet", ReportingInstance: pod.Spec.NodeName,
	}
	select {
	case e.queue <- out:
	default:
		e.f.log.Debug("Dropped an event, too many wait", "pod", pod.Namespace+"/"+pod.Name, "reason", ev.reason)
	}
}

func (e *events) run(ctx context.Context) {
	var writing sync.WaitGroup
	for range eventWriters {
		writing.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case ev := <-e.queue:
					if _, err := e.f.client.CoreV1().Events(ev.Namespace).Create(ctx, ev, metav1.CreateOptions{}); err != nil && ctx.Err() == nil {
						e.f.log.Debug("Failed to write an event", "reason", ev.Reason, "err", err)
					}
				}
			}
		})
	}
	writing.Wait()
}
