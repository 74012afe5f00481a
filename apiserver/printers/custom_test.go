package printers

import (
	"reflect"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCustomColumns(t *testing.T) {
	columns, err := Custom([]apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Size", Type: "integer", JSONPath: ".spec.size"},
		{Name: "Color", Type: "string", JSONPath: ".spec.color"},
		{Name: "Ready", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].status`},
		{Name: "On", Type: "boolean", JSONPath: ".spec.on"},
		{Name: "Since", Type: "date", JSONPath: ".spec.since"},
		{Name: "Wrong", Type: "integer", JSONPath: ".spec.color"},
		{Name: "Missing", Type: "string", JSONPath: ".spec.none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "w"},
		"spec":     map[string]any{"size": int64(3), "color": "red", "on": true, "since": "2026-01-01T00:00:00Z"},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	}}
	got := columns.Row(obj, time.Date(2026, 1, 1, 0, 5, 0, 0, time.UTC)).Cells
	if want := []any{"w", int64(3), "red", "True", true, "5m", nil, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if _, err := Custom([]apiextensionsv1.CustomResourceColumnDefinition{{Name: "X", JSONPath: ".spec[["}}); err == nil {
		t.Error("a path that does not parse gave columns")
	}
}
