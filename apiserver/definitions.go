package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"net/url"

	"github.com/tidwall/gjson"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/customresource"
	"github.com/kubesim/kubesim/apiserver/kinds"
)

// definitions keeps the rows of custom resources in the table, as their
// CustomResourceDefinitions say, and takes the status of these further: it does the
// work of the controllers inside a real server. It follows the watch cache; requests
// on custom resources look first whether there is news, so that they never meet a
// table that is older than the cache.
type definitions struct {
	*follower
	s          *Server
	converters *customresource.Converters
	known      map[string]*known // by name
	// changed are the names whose status may have a step to take.
	changed map[string]bool
}

// known is a definition with the rows that it has in the table.
type known struct {
	*apiextensionsv1.CustomResourceDefinition // without schemas
	essence                                   []byte
	served                                    *customresource.Definition // nil before it is established
	rows                                      []*kinds.Kind
	// removing is true while the objects are being removed.
	removing bool
}

func newDefinitions(s *Server) *definitions {
	d := &definitions{
		follower: newFollower(s, apiextensionsv1.GroupName, "v1", "customresourcedefinitions"),
		s:        s, known: map[string]*known{}, changed: map[string]bool{},
	}
	d.follower.take, d.follower.drop = d.take, d.drop
	d.converters = customresource.NewConverters(func(namespace, name string, port int32) (*url.URL, error) {
		return s.resolveService(s.ended, namespace, name, port)
	})
	return d
}

// take makes the rows of a definition anew if what they are made of has changed.
func (d *definitions) take(name string, e *cache.Entry) {
	d.changed[name] = true
	crd, err := customresource.Read(e.JSON)
	if err != nil {
		d.s.log.Error("Failed to read a definition", "definition", name, "err", err)
		return
	}
	old := d.known[name]
	now := &known{CustomResourceDefinition: crd, essence: essenceOf(crd, e)}
	if old != nil && bytes.Equal(old.essence, now.essence) {
		now.served, now.rows, now.removing = old.served, old.rows, old.removing
	} else {
		if customresource.Is(crd, apiextensionsv1.Established) {
			now.served = d.converters.Definition(crd, e.JSON)
			now.rows = now.served.Rows()
		}
		now.removing = old != nil && old.removing
		d.s.table.replace(rowsOf(old), now.rows)
	}
	d.known[name] = now
}

func (d *definitions) drop(name string) {
	d.s.table.replace(rowsOf(d.known[name]), nil)
	delete(d.known, name)
	// Another definition may want a name that is free now.
	for other := range d.known {
		d.changed[other] = true
	}
}

func rowsOf(k *known) []*kinds.Kind {
	if k == nil {
		return nil
	}
	return k.rows
}

// essenceOf is the part of a definition that its rows depend on.
func essenceOf(crd *apiextensionsv1.CustomResourceDefinition, e *cache.Entry) []byte {
	parts := gjson.GetManyBytes(e.JSON, "spec", "status.acceptedNames", "metadata.uid")
	return fmt.Appendf(nil, "%t%t%s%s%s", customresource.Is(crd, apiextensionsv1.Established),
		customresource.Is(crd, apiextensionsv1.Terminating), parts[0].Raw, parts[1].Raw, parts[2].Raw)
}

// run follows the definitions until the server ends.
func (d *definitions) run() {
	for {
		changed := d.resource().Changed()
		d.catchUp()
		for _, name := range d.takeChanged() {
			d.advance(d.s.ended, name)
		}
		select {
		case <-changed:
		case <-d.s.ended.Done():
			return
		}
	}
}

func (d *definitions) takeChanged() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for name := range d.changed {
		if d.known[name] != nil {
			out = append(out, name)
		}
	}
	clear(d.changed)
	return out
}

// advance takes a definition's status as far as it goes now.
func (d *definitions) advance(ctx context.Context, name string) {
	crd, taken := d.look(name)
	if crd == nil {
		return
	}
	if crd.DeletionTimestamp != nil {
		d.remove(ctx, crd)
		return
	}
	now := d.s.now()
	if probe := crd.DeepCopy(); !customresource.Advance(probe, taken, now) {
		return
	}
	err := d.update(ctx, name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		customresource.Advance(crd, taken, now)
	})
	if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
		d.s.log.Error("Failed to update the status of a definition", "definition", name, "err", err)
	}
}

// look returns a definition with the names that others of its group hold.
func (d *definitions) look(name string) (*apiextensionsv1.CustomResourceDefinition, customresource.Taken) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.known[name]
	if k == nil {
		return nil, customresource.Taken{}
	}
	var others []*apiextensionsv1.CustomResourceDefinition
	for other, o := range d.known {
		if other != name && o.Spec.Group == k.Spec.Group {
			others = append(others, o.CustomResourceDefinition)
		}
	}
	return k.CustomResourceDefinition, customresource.TakenBy(others)
}

// update changes a definition's status.
func (d *definitions) update(ctx context.Context, name string, change func(*apiextensionsv1.CustomResourceDefinition)) error {
	return cacheLister{d.s}.UpdateStatus(ctx, apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"), "", name,
		func(obj runtime.Object) error {
			change(obj.(*apiextensionsv1.CustomResourceDefinition))
			return nil
		})
}
