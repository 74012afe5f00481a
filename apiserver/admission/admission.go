package admission

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The verbs of Attributes.
const (
	Create  = "CREATE"
	Update  = "UPDATE"
	Delete  = "DELETE"
	Connect = "CONNECT"
)

// Attributes describe one write.
type Attributes struct {
	Verb        string
	GVR         schema.GroupVersionResource
	Subresource string
	Namespace   string
	Name        string
	// Object is what is to be stored, nil on DELETE; OldObject what is stored,
	// nil on CREATE.
	Object, OldObject runtime.Object
	DryRun            bool
	User              authenticationv1.UserInfo

	// isMutating is true until names are final, see subject.
	isMutating bool
}

// Plugin is one admission plugin. It is a Mutator, a Validator, or both.
type Plugin interface {
	// Name is how command lines call the plugin.
	Name() string
}

// Mutator may change the object.
type Mutator interface {
	Admit(ctx context.Context, a *Attributes) error
}

// Validator may refuse the object as it will be stored.
type Validator interface {
	Validate(ctx context.Context, a *Attributes) error
}

// Lister reads objects of any kind. What it returns must not be changed. Get
// answers NotFound as a StatusError. Both see every write that was acknowledged
// before the request came.
type Lister interface {
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error)
	List(ctx context.Context, gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, error)
}

// Updater is a Lister that can also write, as ResourceQuota must to charge what
// is used; without one it checks only.
type Updater interface {
	// UpdateStatus changes an object in a compare-and-swap: change is called with
	// the newest form, again after each conflict, and its error ends it unwritten.
	UpdateStatus(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string, change func(runtime.Object) error) error
}

// is tells whether the write goes to a resource itself, not to a subresource.
func (a *Attributes) is(resource schema.GroupResource) bool {
	return a.GVR.GroupResource() == resource && a.Subresource == ""
}

func group(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}
