package garbagecollector

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// absentCapacity bounds what is remembered.
const absentCapacity = 500

// An absentOwner is one that was not found in a namespace. uids are never
// used again, so it never will be.
type absentOwner struct {
	namespace, apiVersion, kind, name string
	uid                               types.UID
}

// absentOwners saves the look-up for each further dependent of the same owner.
type absentOwners struct {
	mu    sync.Mutex
	known map[absentOwner]struct{}
	order []absentOwner
}

func newAbsentOwner(namespace string, reference metav1.OwnerReference) absentOwner {
	return absentOwner{namespace, reference.APIVersion, reference.Kind, reference.Name, reference.UID}
}

func (a *absentOwners) has(namespace string, reference metav1.OwnerReference) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, found := a.known[newAbsentOwner(namespace, reference)]
	return found
}

func (a *absentOwners) add(namespace string, reference metav1.OwnerReference) {
	a.mu.Lock()
	defer a.mu.Unlock()
	owner := newAbsentOwner(namespace, reference)
	if _, found := a.known[owner]; found {
		return
	}
	if len(a.order) == absentCapacity {
		delete(a.known, a.order[0])
		a.order = a.order[1:]
	}
	a.known[owner] = struct{}{}
	a.order = append(a.order, owner)
}
