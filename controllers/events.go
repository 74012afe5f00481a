package controllers

import (
	corev1 "k8s.io/api/core/v1"
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
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return &events{broadcaster}
}

func (e *events) recorder(component string) record.EventRecorder {
	return e.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component})
}
