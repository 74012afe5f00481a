package validation

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxEventWord = 128  // reportingInstance, action, reason
	maxEventNote = 1024 // note, message
)

// Event holds the rules of core/v1 Events, which are lenient: an event without
// eventTime need only lie in the namespace of what it is about.
func Event(e, _ *corev1.Event) field.ErrorList {
	return concat(eventBody(e), dnsSubdomain(e.Namespace, field.NewPath("namespace")))
}

// EventV1 holds the rules of events.k8s.io/v1 Events: those of core, and stricter
// ones. Errors name the fields of the core form, as Kubernetes does.
func EventV1(e, old *eventsv1.Event) field.ErrorList {
	event := coreEvent(e)
	if old != nil {
		return concat(Event(event, nil), strictEventUpdate(event, coreEvent(old)))
	}
	return concat(Event(event, nil), strictEvent(event))
}

func eventBody(e *corev1.Event) field.ErrorList {
	about := field.NewPath("involvedObject", "namespace")
	mismatch := field.Invalid(about, e.InvolvedObject.Namespace, "does not match event.namespace")
	if e.EventTime.IsZero() {
		if e.InvolvedObject.Namespace == "" {
			return refuse(e.Namespace != metav1.NamespaceNone && e.Namespace != metav1.NamespaceDefault, mismatch)
		}
		return refuse(e.Namespace != e.InvolvedObject.Namespace, mismatch)
	}
	clusterScopedElsewhere := e.InvolvedObject.Namespace == "" &&
		e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem
	return concat(
		refuse(clusterScopedElsewhere, mismatch),
		required(e.ReportingController, field.NewPath("reportingController")),
		invalids(e.ReportingController, field.NewPath("reportingController"), validation.IsQualifiedName(e.ReportingController)),
		eventWord(e.ReportingInstance, "reportingInstance"),
		eventWord(e.Action, "action"),
		eventWord(e.Reason, "reason"),
		atMost(e.Message, maxEventNote, "message"),
	)
}

func eventWord(value, name string) field.ErrorList {
	return concat(required(value, field.NewPath(name)), atMost(value, maxEventWord, name))
}

func atMost(value string, limit int, name string) field.ErrorList {
	return refuse(len(value) > limit, field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %v characters", limit)))
}

func strictEvent(e *corev1.Event) field.ErrorList {
	unset := func(is bool, name string) field.ErrorList {
		return refuse(!is, field.Invalid(field.NewPath(name), "", "needs to be unset"))
	}
	return concat(
		metaCreate(&e.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		eventSeries(e.Series),
		refuse(e.EventTime.IsZero(), field.Required(field.NewPath("eventTime"), "")),
		refuse(e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning,
			field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type))),
		unset(e.FirstTimestamp.IsZero(), "firstTimestamp"),
		unset(e.LastTimestamp.IsZero(), "lastTimestamp"),
		unset(e.Count == 0, "count"),
		unset(e.Source == corev1.EventSource{}, "source"),
	)
}

func eventSeries(s *corev1.EventSeries) field.ErrorList {
	if s == nil {
		return nil
	}
	return concat(
		refuse(s.Count < 2, field.Invalid(field.NewPath("series.count"), "", "should be at least 2")),
		refuse(s.LastObservedTime.IsZero(), field.Required(field.NewPath("series.lastObservedTime"), "")),
	)
}

// strictEventUpdate lets nothing but metadata and the series change.
func strictEventUpdate(e, old *corev1.Event) field.ErrorList {
	errs := metaUpdate(&e.ObjectMeta, &old.ObjectMeta)
	if !reflect.DeepEqual(e.Series, old.Series) {
		errs = append(errs, eventSeries(e.Series)...)
	}
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"involvedObject", e.InvolvedObject, old.InvolvedObject},
		{"reason", e.Reason, old.Reason},
		{"message", e.Message, old.Message},
		{"source", e.Source, old.Source},
		{"firstTimestamp", e.FirstTimestamp, old.FirstTimestamp},
		{"lastTimestamp", e.LastTimestamp, old.LastTimestamp},
		{"count", e.Count, old.Count},
		{"reason", e.Reason, old.Reason},
		{"type", e.Type, old.Type},
		{"eventTime", e.EventTime, old.EventTime},
		{"action", e.Action, old.Action},
		{"related", e.Related, old.Related},
		{"reportingController", e.ReportingController, old.ReportingController},
		{"reportingInstance", e.ReportingInstance, old.ReportingInstance},
	} {
		errs = append(errs, unchanged(f.now, f.was, field.NewPath(f.name))...)
	}
	return errs
}

// coreEvent is the event in the words of core/v1.
func coreEvent(e *eventsv1.Event) *corev1.Event {
	event := &corev1.Event{
		ObjectMeta:          e.ObjectMeta,
		InvolvedObject:      e.Regarding,
		Related:             e.Related,
		Reason:              e.Reason,
		Message:             e.Note,
		Type:                e.Type,
		EventTime:           e.EventTime,
		Action:              e.Action,
		ReportingController: e.ReportingController,
		ReportingInstance:   e.ReportingInstance,
		Source:              e.DeprecatedSource,
		FirstTimestamp:      e.DeprecatedFirstTimestamp,
		LastTimestamp:       e.DeprecatedLastTimestamp,
		Count:               e.DeprecatedCount,
	}
	if e.Series != nil {
		event.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return event
}
