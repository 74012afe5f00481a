package kinds

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// event is the row that both groups of events share but for the names of fields.
func event() Kind {
	return Kind{Kind: "Event", Resource: "events", Namespaced: true, ShortNames: []string{"ev"}, CreateOnUpdate: true}
}

func coreEvent() Kind {
	k := event()
	k.Fields = append(fields(
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
		"reason", "reportingComponent", "type",
	), Field{Name: "source", Path: "source.component"})
	return k
}

// events are stored as core events; their selectors read that form.
func events() []Kind {
	k := event()
	k.Storage = &Conversion{Version: "v1", Resource: "events", To: toCoreEvent, From: fromCoreEvent}
	for _, name := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		k.Fields = append(k.Fields, Field{Name: "regarding." + name, Path: "involvedObject." + name})
	}
	k.Fields = append(k.Fields, Field{Name: "reportingController", Path: "reportingComponent"})
	k.Fields = append(k.Fields, fields("reason", "type")...)
	return in("events.k8s.io", "v1", k)
}

func toCoreEvent(obj runtime.Object) runtime.Object {
	e := obj.(*eventsv1.Event)
	out := &corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note,
		Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp,
		Count: e.DeprecatedCount, Type: e.Type, EventTime: e.EventTime, Action: e.Action, Related: e.Related,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}
	if e.Series != nil {
		out.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}

func fromCoreEvent(obj runtime.Object) runtime.Object {
	e := obj.(*corev1.Event)
	out := &eventsv1.Event{
		ObjectMeta: e.ObjectMeta, Regarding: e.InvolvedObject, Reason: e.Reason, Note: e.Message,
		DeprecatedSource: e.Source, DeprecatedFirstTimestamp: e.FirstTimestamp, DeprecatedLastTimestamp: e.LastTimestamp,
		DeprecatedCount: e.Count, Type: e.Type, EventTime: e.EventTime, Action: e.Action, Related: e.Related,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}
	if e.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}
