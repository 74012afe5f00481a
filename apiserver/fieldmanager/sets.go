package fieldmanager

import (
	"bytes"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// maxSets bounds each of the two generations of sets that are kept. A set of a
// pod's fields takes some ten kilobytes.
const maxSets = 64

// Sets keeps the sets of fields that were read last, by their JSON, for all managers
// of a server. A set is never changed. There are two generations: what is not asked
// for while the young one fills is forgotten with the old one. The zero value is ready.
type Sets struct {
	mu         sync.Mutex
	young, old map[string]*fieldpath.Set
}

// read decodes a set of fields.
func (c *Sets) read(fields *metav1.FieldsV1) (*fieldpath.Set, error) {
	if fields == nil {
		return fieldpath.NewSet(), nil
	}
	raw := fields.GetRawBytes()
	if set := c.get(raw); set != nil {
		return set, nil
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	c.keep(string(raw), set)
	return set, nil
}

func (c *Sets) get(raw []byte) *fieldpath.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set := c.young[string(raw)]; set != nil {
		return set
	}
	set := c.old[string(raw)]
	if set != nil {
		c.add(string(raw), set)
	}
	return set
}

// keep takes over a set, which must not be changed any more.
func (c *Sets) keep(raw string, set *fieldpath.Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(raw, set)
}

func (c *Sets) add(raw string, set *fieldpath.Set) {
	if c.young == nil || len(c.young) >= maxSets {
		c.young, c.old = make(map[string]*fieldpath.Set, maxSets), c.young
	}
	c.young[raw] = set
}
