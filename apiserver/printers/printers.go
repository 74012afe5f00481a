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
	// Conditions are those of the row: clients may hide completed objects. May be nil.
	Conditions func(obj runtime.Object) []metav1.TableRowCondition
}

// Row prints one object.
func (c *Columns) Row(obj runtime.Object, now time.Time) metav1.TableRow {
	row := metav1.TableRow{Cells: c.Cells(obj, now)}
	if c.Conditions != nil {
		row.Conditions = c.Conditions(obj)
	}
	return row
}

// After are the same columns for objects that convert turns into the kind they print.
func (c *Columns) After(convert func(runtime.Object) runtime.Object) *Columns {
	out := *c
	out.Cells = func(obj runtime.Object, now time.Time) []any { return c.Cells(convert(obj), now) }
	if c.Conditions != nil {
		out.Conditions = func(obj runtime.Object) []metav1.TableRowCondition { return c.Conditions(convert(obj)) }
	}
	return &out
}
