package apiserver

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/kinds"
)

// resource is a row of the table with what the server derives from it.
type resource struct {
	*kinds.Kind
	prefix string                  // of its keys: /registry/pods/
	stored schema.GroupVersionKind // what stands in the store
	// head is what the stored form begins with: {"kind":"Pod","apiVersion":"v1",
	head []byte
	tag  string // tells this row from others, and from later ones in its place
	// gone is closed when the row is taken out of the table; nil for built-in kinds.
	gone chan struct{}
	// managers are the fieldmanager.Managers made so far, by subresource.
	managers sync.Map
}

// key of an object; an empty name gives the prefix of a namespace, an empty
// namespace that of all of them.
func (r *resource) key(namespace, name string) string {
	if r.Namespaced && namespace != "" {
		return r.prefix + namespace + "/" + name
	}
	return r.prefix + name
}

// subresource returns the row's subresource of that name.
func (r *resource) subresource(name string) (kinds.Subresource, bool) {
	for _, sub := range r.Subresources {
		if sub.Name == name {
			return sub, true
		}
	}
	return kinds.Subresource{}, false
}

// table holds the served resources. Rows may be added and removed at run time.
type table struct {
	cache *cache.Cache

	mu   sync.RWMutex
	rows map[schema.GroupVersionResource]*resource
	list []*kinds.Kind
	// replaced counts the rows that were added at run time.
	replaced int
}

func newTable(c *cache.Cache, rows []kinds.Kind) *table {
	t := &table{cache: c, rows: map[schema.GroupVersionResource]*resource{}}
	for i := range rows {
		t.add(&rows[i])
	}
	return t
}

// add puts a row at the end of the table. The caller holds the lock, or the table alone.
func (t *table) add(k *kinds.Kind) *resource {
	r := newResource(k)
	t.rows[k.GroupVersionResource()] = r
	t.list = append(t.list, k)
	return r
}

func newResource(k *kinds.Kind) *resource {
	group, name, stored := k.Group, k.Resource, k.GroupVersionKind()
	if c := k.Storage; c != nil {
		group, name = c.Group, c.Resource
		stored = schema.GroupVersionKind{Group: c.Group, Version: c.Version, Kind: k.Kind}
	}
	if k.Custom != nil {
		stored.Version = k.StorageVersion
	}
	prefix := cache.Prefix + name
	if group != "" {
		prefix += "." + group
	}
	return &resource{
		Kind: k, prefix: prefix + "/", stored: stored, tag: k.Version + k.Group,
		head: fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, stored.Kind, stored.GroupVersion()),
	}
}

// replace takes rows out of the table and puts others in, at once. Watches of those
// taken out end. A row is left out whose place is taken, as by a built-in kind.
func (t *table) replace(old, rows []*kinds.Kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range old {
		if r := t.rows[k.GroupVersionResource()]; r != nil && r.Kind == k {
			close(r.gone)
			delete(t.rows, k.GroupVersionResource())
		}
	}
	// The list is shared with those who asked for it.
	t.list = slices.DeleteFunc(slices.Clone(t.list), func(k *kinds.Kind) bool { return slices.Contains(old, k) })
	for _, k := range rows {
		if t.rows[k.GroupVersionResource()] == nil {
			t.replaced++
			r := t.add(k)
			r.gone, r.tag = make(chan struct{}), fmt.Sprintf("%s#%d", r.tag, t.replaced)
		}
	}
}

func (t *table) get(group, version, name string) *resource {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.rows[schema.GroupVersionResource{Group: group, Version: version, Resource: name}]
}

// kinds are all rows, in the order of the table; not to be changed.
func (t *table) kinds() []*kinds.Kind {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.list[:len(t.list):len(t.list)]
}

// groupVersions are the group versions served, such as "apps/v1", sorted.
func (t *table) groupVersions() []string {
	seen := map[string]bool{}
	for _, k := range t.kinds() {
		seen[k.GroupVersionKind().GroupVersion().String()] = true
	}
	var out []string
	for gv := range seen {
		out = append(out, gv)
	}
	sort.Strings(out)
	return out
}
