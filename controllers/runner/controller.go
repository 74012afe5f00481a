package runner

import (
	"context"
	"fmt"
	"time"

	oteltrace "go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/trace"
)

// Key names the object that a controller works on.
type Key = cache.ObjectName

// A Controller is what the runner needs to know.
type Controller struct {
	// Name is the component's, such as "deployment-controller".
	Name string
	// Resource is that of the keys.
	Resource schema.GroupResource
	// Watches are the sources of keys.
	Watches []Watch
	// Reconcile brings the world nearer to what the key's object asks for. It
	// looks only at caches and the API, never at what woke it. A positive
	// duration asks for another run after that time, event or not.
	Reconcile func(ctx context.Context, key Key) (requeueAfter time.Duration, err error)
	// Source is a further source of keys; it runs beside the workers until the
	// context ends. Optional.
	Source func(ctx context.Context, enqueue func(Key))
	// Workers is how many keys are reconciled at a time; the manager sets it when 0.
	Workers int
	// ObjectOf names a key's object in logs and spans; only needed where a key
	// is not the object's namespace and name.
	ObjectOf func(Key) string
}

// A Watch says whose events wake which keys.
type Watch struct {
	Resource schema.GroupResource
	Informer cache.SharedIndexInformer
	// Keys are the keys that an object concerns. It is asked about an object
	// that came, one that went, and about both states of one that changed, so
	// that an object's former owner is woken too.
	Keys func(obj metav1.Object) []Key
	// Changed tells which updates matter; all when nil.
	Changed func(old, cur metav1.Object) bool
}

// Self is the Keys of the watch on the controller's own resource.
func Self(obj metav1.Object) []Key { return []Key{cache.MetaObjectToName(obj)} }

// Decide records in words what a reconcile decided, such as "want 3, have 1, create 2".
func Decide(ctx context.Context, format string, args ...any) {
	if span := oteltrace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(trace.Decision.String(fmt.Sprintf(format, args...)))
	}
}

func (c *Controller) objectOf(key Key) string {
	if c.ObjectOf != nil {
		return c.ObjectOf(key)
	}
	return trace.ObjectName(c.Resource.Resource, c.Resource.Group, key.Namespace, key.Name)
}
