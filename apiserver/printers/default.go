package printers

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Default are the columns of a kind that has none of its own.
var Default = &Columns{
	Definitions: []metav1.TableColumnDefinition{name(), createdAt()},
	Cells: func(obj runtime.Object, _ time.Time) []any {
		m, err := meta.Accessor(obj)
		if err != nil {
			return []any{"", ""}
		}
		return []any{m.GetName(), created(m)}
	},
}
