package admission

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/trace"
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
	// Options are the CreateOptions, UpdateOptions or DeleteOptions of the request.
	Options runtime.Object
	DryRun  bool
	User    authenticationv1.UserInfo
	// Warner and Annotator take warnings for the client and annotations for the
	// audit log, if they are not nil.
	Warner    func(string)
	Annotator func(key, value string)

	// isMutating is true until names are final, see subject.
	isMutating bool
	// isAgain is true in a second round, askAgain when one is wanted.
	isAgain, askAgain bool
	state             map[string]any
	// explains is true if changes are to be noted; plugin is the one at work if it
	// is not watched, by the webhook or policy that made the last change.
	explains   bool
	plugin, by string
	changes    []trace.Change
	mu         sync.Mutex // of Warner and Annotator
}

// Warn tells the client something.
func (a *Attributes) Warn(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Warner != nil {
		a.Warner(text)
	}
}

// Annotate adds to the request's entry in the audit log.
func (a *Attributes) Annotate(key, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Annotator != nil {
		a.Annotator(key, value)
	}
}

// AskAgain wants all mutators to see the object once more, since it has changed
// after some of them did.
func (a *Attributes) AskAgain() { a.askAgain = true }

// Again is true in that second round.
func (a *Attributes) Again() bool { return a.isAgain }

// State is what a plugin has noted in the first round, for itself.
func (a *Attributes) State(plugin string) any { return a.state[plugin] }

// SetState notes something for a second round.
func (a *Attributes) SetState(plugin string, v any) {
	if a.state == nil {
		a.state = map[string]any{}
	}
	a.state[plugin] = v
}

// Replace makes Object what obj is, in place, since others hold Object too. by
// names the webhook or policy that wants it so.
func (a *Attributes) Replace(by string, obj runtime.Object) error {
	to, from := reflect.ValueOf(a.Object), reflect.ValueOf(obj)
	if to.Type() != from.Type() {
		return fmt.Errorf("a %T can't take the place of a %T", obj, a.Object)
	}
	switch {
	case a.explains && a.plugin != "":
		a.note(a.plugin+" "+by, a.Object, obj)
	case a.by != "":
		a.by += ", " + by
	default:
		a.by = by
	}
	to.Elem().Set(from.Elem())
	return nil
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

// Judge is a Lister that also knows who may do what; without one everybody may
// do everything.
type Judge interface {
	May(user authenticationv1.UserInfo, verb string, resource schema.GroupResource, subresource, namespace, name string) bool
}

func may(lister Lister, user authenticationv1.UserInfo, verb string, resource schema.GroupResource, subresource, namespace, name string) bool {
	judge, ok := lister.(Judge)
	return !ok || judge.May(user, verb, resource, subresource, namespace, name)
}

// is tells whether the write goes to a resource itself, not to a subresource.
func (a *Attributes) is(resource schema.GroupResource) bool {
	return a.GVR.GroupResource() == resource && a.Subresource == ""
}

func group(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}
