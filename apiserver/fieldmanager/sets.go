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

// Sets keeps the sets of fields that were read or written last with their JSON, for all
// managers of a server. A set is never changed. There are two generations: what is not
// asked for while the young one fills is forgotten with the old one. The zero value is ready.
type Sets struct {
	mu         sync.Mutex
	young, old generation
}

type generation struct {
	sets map[string]*fieldpath.Set
	json map[*fieldpath.Set]string
}

// read decodes a set of fields.
func (c *Sets) read(fields *metav1.FieldsV1) (*fieldpath.Set, error) {
	if fields == nil {
		return fieldpath.NewSet(), nil
	}
	raw := fields.GetRawBytes()
	if set := c.known(raw); set != nil {
		return set, nil
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	c.keep(string(raw), set)
	return set, nil
}

// write encodes a set of fields, which must not be changed any more.
func (c *Sets) write(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	if raw, ok := c.written(set); ok {
		return metav1.NewFieldsV1(raw), nil
	}
	raw, err := set.ToJSON()
	if err != nil {
		return nil, err
	}
	c.keep(string(raw), set)
	return metav1.NewFieldsV1(string(raw)), nil
}

func (c *Sets) known(raw []byte) *fieldpath.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set := c.young.sets[string(raw)]; set != nil {
		return set
	}
	set := c.old.sets[string(raw)]
	if set != nil {
		c.add(string(raw), set)
	}
	return set
}

func (c *Sets) written(set *fieldpath.Set) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw, ok := c.young.json[set]; ok {
		return raw, true
	}
	raw, ok := c.old.json[set]
	if ok {
		c.add(raw, set)
	}
	return raw, ok
}

func (c *Sets) keep(raw string, set *fieldpath.Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(raw, set)
}

func (c *Sets) add(raw string, set *fieldpath.Set) {
	if c.young.sets == nil || len(c.young.json) >= maxSets {
		c.old = c.young
		c.young = generation{make(map[string]*fieldpath.Set, maxSets), make(map[*fieldpath.Set]string, maxSets)}
	}
	c.young.sets[raw], c.young.json[set] = set, raw
}
