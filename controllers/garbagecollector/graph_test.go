package garbagecollector

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var configMap = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// thing is a ConfigMap in namespace ns whose uid is its name.
func thing(name string, change ...func(*item)) item {
	i := item{uid: types.UID(name), kind: configMap, namespace: "ns", name: name}
	for _, c := range change {
		c(&i)
	}
	return i
}

func ownedBy(owner string, block bool) func(*item) {
	return func(i *item) {
		i.owners = append(i.owners, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: types.UID(owner), BlockOwnerDeletion: &block,
		})
	}
}

func elsewhere(i *item)  { i.namespace = "other" }
func foreground(i *item) { i.deleted, i.foreground = true, true }
func orphaning(i *item)  { i.deleted, i.orphaning = true, true }

func TestGraphObserve(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []item
		now    item
		look   []types.UID
	}{
		{"an object without owners", nil, thing("a"), nil},
		{"an owner that is there", []item{thing("a")}, thing("b", ownedBy("a", false)), nil},
		{"an owner not seen", nil, thing("b", ownedBy("a", false)), []types.UID{"b"}},
		{"an owner seen after its dependent", []item{thing("b", ownedBy("a", false))}, thing("a"), nil},
		{"an owner in another namespace", []item{thing("a", elsewhere)}, thing("b", ownedBy("a", false)), []types.UID{"b"}},
		{"the same, seen late", []item{thing("b", ownedBy("a", false))}, thing("a", elsewhere), []types.UID{"b"}},
		{"foreground deletion", []item{thing("a"), thing("b", ownedBy("a", true))}, thing("a", foreground), []types.UID{"a", "b"}},
		{"foreground deletion told twice", []item{thing("a", foreground), thing("b", ownedBy("a", true))}, thing("a", foreground), nil},
		{"a reference that kept a deletion waiting went", []item{thing("a", foreground), thing("b", ownedBy("a", true))}, thing("b"), []types.UID{"a"}},
		{"a reference no longer blocks", []item{thing("c"), thing("a", foreground), thing("b", ownedBy("a", true), ownedBy("c", true))},
			thing("b", ownedBy("a", false), ownedBy("c", true)), []types.UID{"a", "b"}},
		{"orphaning", []item{thing("a"), thing("b", ownedBy("a", false))}, thing("a", orphaning), []types.UID{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGraph()
			for _, before := range test.before {
				g.observe(before)
			}
			look := g.observe(test.now)
			slices.Sort(look)
			if !slices.Equal(look, test.look) {
				t.Errorf("looks at %v, want %v", look, test.look)
			}
		})
	}
}

func TestGraphForget(t *testing.T) {
	g := newGraph()
	g.observe(thing("root", foreground))
	g.observe(thing("middle", ownedBy("root", true)))
	g.observe(thing("leaf", ownedBy("middle", false)))

	look := g.forget("middle")
	slices.Sort(look)
	if want := []types.UID{"leaf", "root"}; !slices.Equal(look, want) {
		t.Errorf("looks at %v, want %v", look, want)
	}
	if left := g.dependentsOf("root"); len(left) != 0 {
		t.Errorf("root still has dependents %v", left)
	}
	g.forget("leaf")
	g.forget("root")
	if len(g.items)+len(g.dependents) != 0 {
		t.Errorf("left over: %d items, %d lists of dependents", len(g.items), len(g.dependents))
	}
}

func TestAbsentOwnersAreBounded(t *testing.T) {
	absent := absentOwners{known: map[absentOwner]struct{}{}}
	reference := func(i int) metav1.OwnerReference {
		return metav1.OwnerReference{Name: "o", UID: types.UID(rune('a' + i))}
	}
	for i := range absentCapacity + 1 {
		absent.add("ns", reference(i))
	}
	if absent.has("ns", reference(0)) || !absent.has("ns", reference(1)) || absent.has("other", reference(1)) {
		t.Error("want all but the oldest, each in its namespace")
	}
}
