package printers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// What a cell shows in place of a value.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// columns are those of the kind whose Go type is T.
func columns[T runtime.Object](cells func(obj T, now time.Time) []any, definitions ...metav1.TableColumnDefinition) *Columns {
	return &Columns{
		Definitions: definitions,
		Cells:       func(obj runtime.Object, now time.Time) []any { return portable(cells(obj.(T), now)) },
	}
}

// portable turns numbers into the one type of integers that JSON values of
// Kubernetes have; the deep copy of a Table panics at others.
func portable(cells []any) []any {
	for i, c := range cells {
		switch n := c.(type) {
		case int:
			cells[i] = int64(n)
		case int32:
			cells[i] = int64(n)
		}
	}
	return cells
}

func column(kind, name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: kind, Description: description}
}

func text(name, description string) metav1.TableColumnDefinition {
	return column("string", name, description)
}

func number(name, description string) metav1.TableColumnDefinition {
	return column("integer", name, description)
}

func boolean(name, description string) metav1.TableColumnDefinition {
	return column("boolean", name, description)
}

// wide is a column that only -o wide shows.
func wide(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Priority = 1
	return c
}

// named is a column that holds a name.
func named(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Format = "name"
	return c
}

// name is the column that nearly every table begins with.
func name() metav1.TableColumnDefinition {
	return named(text("Name", metav1.ObjectMeta{}.SwaggerDoc()["name"]))
}

// age is the column that nearly every table ends with.
func age() metav1.TableColumnDefinition {
	return text("Age", metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"])
}

// containers and images are the columns on the template of a workload.
func containers() metav1.TableColumnDefinition {
	return wide(text("Containers", "Names of each container in the template."))
}

func images() metav1.TableColumnDefinition {
	return wide(text("Images", "Images referenced by each container in the template."))
}

// ageOf is how long ago the object was created.
func ageOf(obj metav1.Object, now time.Time) string {
	return since(obj.GetCreationTimestamp(), now)
}

// since is the time that has passed, as a person would say it.
func since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// namesOf and imagesOf list the containers of a template.
func namesOf(containers []corev1.Container) string {
	return join(containers, func(c corev1.Container) string { return c.Name })
}

func imagesOf(containers []corev1.Container) string {
	return join(containers, func(c corev1.Container) string { return c.Image })
}
