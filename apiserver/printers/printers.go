package printers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Columns make one kind's rows of a Table. Cells has a cell for each
// definition; now is what ages are counted from.
type Columns struct {
	Definitions []metav1.TableColumnDefinition
	Cells       func(obj runtime.Object, now time.Time) []any
}

// Row prints one object.
func (c *Columns) Row(obj runtime.Object, now time.Time) metav1.TableRow {
	return metav1.TableRow{Cells: c.Cells(obj, now)}
}
