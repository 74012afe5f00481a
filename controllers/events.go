package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// events sends the controllers' events, repeated ones as one with a count.
type events struct{ record.EventBroadcaster }

// newEvents starts sending, until Shutdown: the last events come from workers
// that are still ending when the context has.
func newEvents(client kubernetes.Interface, clock clock.PassiveClock) *events {
	broadcaster := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{Clock: clock}))
	broadcaster.StartRecordingToSink(sink{&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")}})
	return &events{broadcaster}
}

// sink gives another name to an event whose name is taken: names are made of
// the time, and two events of an object may come at the same.
type sink struct{ record.EventSink }

func (s sink) Create(event *corev1.Event) (*corev1.Event, error) {
	created, err := s.EventSink.Create(event)
	for i := 1; apierrors.IsAlreadyExists(err) && i < 100; i++ {
		renamed := event.DeepCopy()
		renamed.Name = fmt.Sprintf("%s.%d", event.Name, i)
		created, err = s.EventSink.Create(renamed)
	}
	return created, err
}

func (e *events) recorder(component string) record.EventRecorder {
	return e.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component})
}
