package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/utils/clock"
)

// seriesEnd is how long after an event an equal one still belongs to its series.
const seriesEnd = 6 * time.Minute

// maxNote is the longest text that the API server takes.
const maxNote = 1024

// events writes events.k8s.io/v1 Events. Equal ones about the same revision of
// a pod become a series instead of many objects.
//
// client-go's broadcaster would do the same with goroutines that outlive Run
// and a clock that cannot be stopped.
type events struct {
	client eventsclient.EventsV1Interface
	clock  clock.WithTicker
	host   string

	mu     sync.Mutex
	recent map[eventKey]*eventsv1.Event // FailedScheduling and the like
}

type eventKey struct {
	uid             types.UID
	resourceVersion string
	reason, action  string
}

// occurrence is what an event says.
type occurrence struct {
	kind, reason, action, note string
	related                    *v1.Pod
}

func newEvents(client kubernetes.Interface, config Config) *events {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return &events{
		client: client.EventsV1(),
		clock:  config.Clock,
		host:   host,
		recent: map[eventKey]*eventsv1.Event{},
	}
}

// record writes an event about pod.
func (e *events) record(ctx context.Context, pod *v1.Pod, o occurrence) error {
	event, repeated := e.event(pod, o)
	client := e.client.Events(event.Namespace)
	if repeated {
		patch, err := json.Marshal(map[string]any{"series": event.Series})
		if err != nil {
			return fmt.Errorf("encoding the series of an event: %w", err)
		}
		_, err = client.Patch(ctx, event.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, err := client.Create(ctx, event, metav1.CreateOptions{})
	return err
}

// event returns the event to write, and whether it is there already and has
// only become a longer series.
func (e *events) event(pod *v1.Pod, o occurrence) (event *eventsv1.Event, repeated bool) {
	now := e.clock.Now()
	event = e.newEvent(pod, o, now)
	if o.kind == v1.EventTypeNormal {
		return event, false // such things happen to a pod but once
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for k, old := range e.recent {
		if now.Sub(lastSeen(old)) > seriesEnd {
			delete(e.recent, k)
		}
	}
	k := eventKey{pod.UID, pod.ResourceVersion, o.reason, o.action}
	old, ok := e.recent[k]
	if !ok {
		e.recent[k] = event
		return event.DeepCopy(), false
	}
	if old.Series == nil {
		old.Series = &eventsv1.EventSeries{Count: 1}
	}
	old.Series.Count++
	old.Series.LastObservedTime = metav1.NewMicroTime(now)
	return old.DeepCopy(), true
}

func (e *events) newEvent(pod *v1.Pod, o occurrence, now time.Time) *eventsv1.Event {
	controller := pod.Spec.SchedulerName
	if o.related != nil {
		controller = o.related.Spec.SchedulerName // it is the one that was to be placed
	}
	note := o.note
	if len(note) > maxNote {
		note = note[:maxNote-4] + " ..."
	}
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s.%x", pod.Name, now.UnixNano()),
			Namespace: pod.Namespace,
		},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: controller,
		ReportingInstance:   controller + "-" + e.host,
		Action:              o.action,
		Reason:              o.reason,
		Regarding:           reference(pod),
		Note:                note,
		Type:                o.kind,
	}
	if o.related != nil {
		ref := reference(o.related)
		event.Related = &ref
	}
	return event
}

func lastSeen(event *eventsv1.Event) time.Time {
	if event.Series != nil {
		return event.Series.LastObservedTime.Time
	}
	return event.EventTime.Time
}

func reference(pod *v1.Pod) v1.ObjectReference {
	return v1.ObjectReference{
		APIVersion:      "v1",
		Kind:            "Pod",
		Namespace:       pod.Namespace,
		Name:            pod.Name,
		UID:             pod.UID,
		ResourceVersion: pod.ResourceVersion,
	}
}
