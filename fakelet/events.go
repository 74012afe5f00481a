package fakelet

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

const (
	eventWriters = 4
	// eventQueue is how many events wait for each writer before more are dropped.
	eventQueue = 4096
)

// recorder writes events behind the work that they tell of. The events of one
// object go through one writer, in order, and similar ones are aggregated as
// client-go does it. (record.EventBroadcaster itself queues a thousand for one
// writer, and names events by the instant: too few here, and not unique when the
// clock stands still.)
type recorder struct {
	client  kubernetes.Interface
	clock   clock.Clock
	log     *slog.Logger
	queues  [eventWriters]chan *corev1.Event
	counter atomic.Int64
}

func newRecorder(client kubernetes.Interface, c clock.Clock, log *slog.Logger) *recorder {
	r := &recorder{client: client, clock: c, log: log}
	for i := range r.queues {
		r.queues[i] = make(chan *corev1.Event, eventQueue)
	}
	return r
}

// pod tells an event of a pod.
func (r *recorder) pod(pod *corev1.Pod, e event) {
	r.record(corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, FieldPath: e.field,
	}, pod.Spec.NodeName, e.kind, e.reason, e.message)
}

// node tells an event of a node. As a kubelet does, it uses the name as uid.
func (r *recorder) node(node *corev1.Node, kind, reason, message string) {
	r.record(corev1.ObjectReference{Kind: "Node", Name: node.Name, UID: types.UID(node.Name)}, node.Name, kind, reason, message)
}

func (r *recorder) record(ref corev1.ObjectReference, host, kind, reason, message string) {
	now := metav1.NewTime(r.clock.Now())
	namespace := ref.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", ref.Name, now.UnixNano()+r.counter.Add(1)), Namespace: namespace},
		InvolvedObject: ref,
		Type:           kind, Reason: reason, Message: message,
		Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: "kubelet", Host: host},
		ReportingController: "kubelet", ReportingInstance: host,
	}
	h := fnv.New32a()
	h.Write([]byte(ref.UID))
	select {
	case r.queues[h.Sum32()%eventWriters] <- e:
	default:
		r.log.Debug("Dropped an event, too many wait", "object", namespace+"/"+ref.Name, "reason", reason)
	}
}

// run writes events until ctx ends.
func (r *recorder) run(ctx context.Context) {
	var writers sync.WaitGroup
	for _, queue := range r.queues {
		writers.Go(func() {
			correlator := record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{Clock: r.clock})
			for {
				select {
				case <-ctx.Done():
					return
				case e := <-queue:
					if err := r.write(ctx, correlator, e); err != nil && ctx.Err() == nil {
						r.log.Debug("Failed to write an event", "object", e.Namespace+"/"+e.InvolvedObject.Name, "reason", e.Reason, "err", err)
					}
				}
			}
		})
	}
	writers.Wait()
}

// write creates the event, or counts up the one that told the same.
func (r *recorder) write(ctx context.Context, correlator *record.EventCorrelator, e *corev1.Event) error {
	result, err := correlator.EventCorrelate(e)
	if err != nil || result.Skip {
		return err
	}
	events := r.client.CoreV1().Events(e.Namespace)
	written := result.Event
	if written.Count > 1 {
		written, err = events.PatchWithEventNamespace(result.Event, result.Patch)
		if !apierrors.IsNotFound(err) {
			return r.wrote(correlator, written, err)
		}
		written = result.Event // it has expired: begin again
		written.ResourceVersion = ""
	}
	written, err = events.Create(ctx, written, metav1.CreateOptions{})
	return r.wrote(correlator, written, err)
}

func (r *recorder) wrote(correlator *record.EventCorrelator, e *corev1.Event, err error) error {
	if err == nil {
		correlator.UpdateState(e)
	}
	return err
}
