package apiserver

import (
	"fmt"
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
}

func newTable(c *cache.Cache, rows []kinds.Kind) *table {
	t := &table{cache: c, rows: map[schema.GroupVersionResource]*resource{}}
	for i := range rows {
		t.add(&rows[i])
	}
	return t
}

func (t *table) add(k *kinds.Kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	group, name, stored := k.Group, k.Resource, k.GroupVersionKind()
	if c := k.Storage; c != nil {
		group, name = c.Group, c.Resource
		stored = schema.GroupVersionKind{Group: c.Group, Version: c.Version, Kind: k.Kind}
	}
	prefix := cache.Prefix + name
	if group != "" {
		prefix += "." + group
	}
	r := &resource{Kind: k, prefix: prefix + "/", stored: stored}
	r.head = fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, stored.Kind, stored.GroupVersion())
	t.rows[schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}] = r
	t.list = append(t.list, k)
}

func (t *table) get(group, version, name string) *resource {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.rows[schema.GroupVersionResource{Group: group, Version: version, Resource: name}]
}

// kinds are all rows, in the order of the table.
func (t *table) kinds() []*kinds.Kind {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return append([]*kinds.Kind(nil), t.list...)
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
