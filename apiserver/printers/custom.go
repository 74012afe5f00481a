package printers

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

// Custom makes the columns of a custom resource's additionalPrinterColumns. A
// definition without any has an Age.
func Custom(wanted []apiextensionsv1.CustomResourceColumnDefinition) (*Columns, error) {
	if len(wanted) == 0 {
		wanted = []apiextensionsv1.CustomResourceColumnDefinition{
			{Name: "Age", Type: "date", Description: age().Description, JSONPath: ".metadata.creationTimestamp"},
		}
	}
	c := &Columns{Definitions: []metav1.TableColumnDefinition{name()}}
	paths := make([]*jsonpath.JSONPath, len(wanted))
	for i, w := range wanted {
		paths[i] = jsonpath.New(w.Name).AllowMissingKeys(true)
		if err := paths[i].Parse("{" + w.JSONPath + "}"); err != nil {
			return nil, fmt.Errorf("column %s with path %q: %w", w.Name, w.JSONPath, err)
		}
		description := w.Description
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + w.JSONPath
		}
		c.Definitions = append(c.Definitions, metav1.TableColumnDefinition{
			Name: w.Name, Type: w.Type, Format: w.Format, Description: description, Priority: w.Priority,
		})
	}
	c.Cells = func(obj runtime.Object, now time.Time) []any {
		u := obj.(*unstructured.Unstructured)
		cells := []any{u.GetName()}
		for i, w := range wanted {
			cells = append(cells, customCell(paths[i], w.Type, u.Object, now))
		}
		return cells
	}
	return c, nil
}

// customCell is nil where the path leads to nothing, or to another type than the column's.
func customCell(path *jsonpath.JSONPath, kind string, content map[string]any, now time.Time) any {
	results, err := path.FindResults(content)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return nil
	}
	v := results[0][0].Interface()
	if kind == "string" {
		var b strings.Builder
		if path.PrintResults(&b, []reflect.Value{reflect.ValueOf(v)}) != nil {
			return nil
		}
		return b.String()
	}
	return typedCell(kind, v, now)
}

func typedCell(kind string, v any, now time.Time) any {
	switch v := v.(type) {
	case int64:
		switch kind {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch kind {
		case "integer":
			return int64(v)
		case "number":
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind != "date" {
			return nil
		}
		var t metav1.Time
		if t.UnmarshalQueryParameter(v) != nil {
			return "<invalid>"
		}
		return since(t, now)
	}
	return nil
}
