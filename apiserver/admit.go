package apiserver

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	oteltrace "go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kubesim/kubesim/apiserver/admission"
	"github.com/kubesim/kubesim/trace"
)

// admit lets the admission plugins change an object. Managed fields that they leave
// behind broken are put back.
func (s *Server) admit(ctx context.Context, q *request, attrs *admission.Attributes) error {
	m := accessorOf(attrs.Object)
	before := m.GetManagedFields()
	span := oteltrace.SpanFromContext(ctx)
	if span.IsRecording() {
		attrs.Explain()
	}
	if err := s.admission.Admit(ctx, attrs); err != nil {
		return err
	}
	if changes := attrs.Changes(); len(changes) > 0 {
		span.SetAttributes(trace.Changed.String(trace.FormatChanges(changes)))
	}
	if after := m.GetManagedFields(); !reflect.DeepEqual(before, after) {
		if err := managedfields.ValidateManagedFields(after); err != nil {
			m.SetManagedFields(before)
			q.warn([]string{".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: " + err.Error()})
		}
	}
	q.dropDuplicateOwners(m, " after mutating admission happens")
	return nil
}

// dropDuplicateOwners keeps one of owner references that are equal, and warns of it.
func (q *request) dropDuplicateOwners(m metav1.Object, when string) {
	var owners []metav1.OwnerReference
	var duplicates []string
	for _, ref := range m.GetOwnerReferences() {
		if slices.ContainsFunc(owners, func(other metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(other, ref) }) {
			duplicates = append(duplicates, string(ref.UID))
			continue
		}
		owners = append(owners, ref)
	}
	if len(duplicates) == 0 {
		return
	}
	m.SetOwnerReferences(owners)
	q.warn([]string{fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(duplicates, ", "))})
}
