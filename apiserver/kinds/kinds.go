package kinds

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubesim/kubesim/apiserver/printers"
)

// Kind is one row of the table: one resource in one version. The zero value of
// every optional field means what most kinds do, so that a plain kind is one line.
type Kind struct {
	Group, Version, Kind string
	Resource             string // plural, lower case, as in the URL
	Singular             string // default: Kind in lower case
	ShortNames           []string
	Categories           []string
	Namespaced           bool
	// Verbs are the verbs served, default AllVerbs. Reviews take create alone.
	Verbs        []string
	Subresources []Subresource
	// Fields are the field selectors beyond metadata.name and metadata.namespace.
	Fields []Field
	// Unstructured is true when no Go type is known for the kind.
	Unstructured bool
	// Custom is what a custom resource has in place of a Go type; nil for built-in kinds.
	Custom Custom
	// Terminating is true when the definition of a custom resource is being deleted:
	// nothing may be created any more.
	Terminating bool
	// ListKind is the kind of a list, default Kind with List behind it.
	ListKind string
	// Deprecated is the text of a warning that every answer carries.
	Deprecated string
	// CreateOnUpdate is true when a PUT to a name that is not there creates the object.
	CreateOnUpdate bool
	// ConditionalUpdate is true when a PUT must carry a resourceVersion.
	ConditionalUpdate bool
	// ReturnDeleted is true when DELETE answers with the object instead of a Status.
	ReturnDeleted bool
	// Generation is true when metadata.generation counts the changes of spec.
	Generation bool
	// StorageVersion is the version that discovery's storage hash tells of, default Version.
	StorageVersion string
	// Storage names the version and resource whose stored form this row shares,
	// with the way there and back; nil when the row is stored as it is.
	Storage *Conversion

	Rules
	Columns *printers.Columns // of its Table; nil: Name and Age
	Scale   *Scale            // for the scale subresource
	// Terminate marks an object as deleted when it is deleted for the first time, for
	// the kinds that do more then than others do; nil for the others.
	Terminate func(obj runtime.Object, now metav1.Time)
	// TypeConverter gives the schema by which managed fields and server-side apply
	// tell fields apart: maps from lists, list maps from atomic lists. Nil is the
	// shared converter of the built-in types. It is called at the first tracked
	// write to the kind, so it is best a sync.OnceValues around
	// managedfields.NewTypeConverter, whose schemas carry
	// x-kubernetes-group-version-kind. The converter must know all versions of the
	// kind: fields that were set in one stay owned when another is written.
	TypeConverter func() (managedfields.TypeConverter, error)
	// DerivedAnnotation is one that Kubernetes makes of a hidden field when it shows
	// a whole object, so that metadata alone lack it.
	DerivedAnnotation string
	// OrphanByDefault is true for the kinds whose DELETE without options orphans the dependents.
	OrphanByDefault bool
}

// AllVerbs is what most kinds serve.
var AllVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// Subresource is a path below an object.
type Subresource struct {
	Name  string
	Verbs []string
	// Kind is what it speaks, default the parent's.
	Kind schema.GroupVersionKind
	// Rules are those of a write to it.
	Rules
}

// Field is a field selector: Name is what clients write, Path where the value
// stands in the object, Default what an absent value reads as.
type Field struct{ Name, Path, Default string }

// Conversion leads from a row's form to the stored one and back.
type Conversion struct {
	Group, Version, Resource string
	To, From                 func(runtime.Object) runtime.Object
}

// Scale reads and writes the parts of an object that the scale subresource shows.
type Scale struct {
	Get func(obj runtime.Object) ScaleValues
	Set func(obj runtime.Object, replicas int32)
	// Replicas are the fields that lead to the number, default spec and replicas.
	Replicas []string
}

// Path leads to the number of replicas, as managed fields name it.
func (s *Scale) Path() fieldpath.Path {
	if s.Replicas == nil {
		return fieldpath.MakePathOrDie("spec", "replicas")
	}
	var path fieldpath.Path
	for _, name := range s.Replicas {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// ScaleValues are the fields of an autoscaling/v1 Scale.
type ScaleValues struct {
	Replicas, StatusReplicas int32
	Selector                 string
	// Missing is the path of the number of replicas where it is not there.
	Missing string
}

// ListKindName is the kind of a list of objects.
func (k *Kind) ListKindName() string {
	if k.ListKind != "" {
		return k.ListKind
	}
	return k.Kind + "List"
}

// Stored is true for a kind whose objects are kept: reviews and bindings are only answered.
func (k *Kind) Stored() bool { return slices.Contains(k.ServedVerbs(), "watch") }

// ListedVerbs are the verbs that discovery tells of.
func (k *Kind) ListedVerbs() []string {
	if k.Terminating {
		return slices.DeleteFunc(slices.Clone(k.ServedVerbs()), func(verb string) bool { return verb == "create" })
	}
	return k.ServedVerbs()
}

// ServedVerbs are the verbs of the resource itself.
func (k *Kind) ServedVerbs() []string {
	if k.Verbs == nil {
		return AllVerbs
	}
	return k.Verbs
}

// SingularName is the name of one object, as clients may write it.
func (k *Kind) SingularName() string {
	if k.Singular != "" {
		return k.Singular
	}
	return strings.ToLower(k.Kind)
}

// GroupVersionKind of the row.
func (k *Kind) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// GroupVersionResource of the row, by which its path is found.
func (k *Kind) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
}

// GroupResource of the row, as errors name it.
func (k *Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}
