package printers

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func eventColumns() *Columns {
	doc := corev1.Event{}.SwaggerDoc()
	return columns(eventCells,
		text("Last Seen", doc["lastTimestamp"]), text("Type", doc["type"]), text("Reason", doc["reason"]),
		text("Object", doc["involvedObject"]), wide(text("Subobject", corev1.ObjectReference{}.SwaggerDoc()["fieldPath"])),
		wide(text("Source", doc["source"])), text("Message", doc["message"]), wide(text("First Seen", doc["firstTimestamp"])),
		wide(text("Count", doc["count"])), wide(name()),
	)
}

func eventCells(e *corev1.Event, now time.Time) []any {
	first := e.FirstTimestamp
	if first.IsZero() {
		first = metav1.Time(e.EventTime)
	}
	last, count := e.LastTimestamp, e.Count
	if last.IsZero() {
		last = first
	}
	switch {
	case e.Series != nil:
		last, count = metav1.Time(e.Series.LastObservedTime), e.Series.Count
	case count == 0: // events of the newer form that happened once have no count
		count = 1
	}
	return []any{
		since(last, now), e.Type, e.Reason, eventObject(e), e.InvolvedObject.FieldPath, eventSource(e),
		strings.TrimSpace(e.Message), since(first, now), count, e.Name,
	}
}

func eventObject(e *corev1.Event) string {
	kind := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name == "" {
		return kind
	}
	return kind + "/" + e.InvolvedObject.Name
}

func eventSource(e *corev1.Event) string {
	component, instance := or(e.Source.Component, e.ReportingController), or(e.Source.Host, e.ReportingInstance)
	if instance == "" {
		return component
	}
	return component + ", " + instance
}
