package children

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestExpectations(t *testing.T) {
	key := cache.ObjectName{Namespace: "default", Name: "web"}
	none := func(types.UID) bool { return false }
	all := func(types.UID) bool { return true }
	e := NewExpectations()
	if !e.Fulfilled(key, "", none) {
		t.Error("nothing was expected")
	}
	e.Wrote(key, "9")
	e.Wrote(key, "10") // numbers, not strings
	if e.Fulfilled(key, "9", none) {
		t.Error("the cache is at 9, revision 10 was written")
	}
	if !e.Fulfilled(key, "11", none) {
		t.Error("the cache is past 10")
	}
	e.Deleted(key, "uid")
	if e.Fulfilled(key, "11", all) {
		t.Error("the cache still has the deleted child")
	}
	if !e.Fulfilled(key, "11", none) {
		t.Error("the deleted child is gone")
	}
	if !e.Fulfilled(key, "1", all) {
		t.Error("what was fulfilled is not expected again")
	}
	e.Wrote(key, "20")
	e.Forget(key)
	if !e.Fulfilled(key, "1", none) {
		t.Error("what was forgotten is not expected")
	}
}
