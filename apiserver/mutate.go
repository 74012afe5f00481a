package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

// change makes the new object of the one that is there. It may be called again
// when another write came between, and must not keep or alter old.
type change func(old runtime.Object) (runtime.Object, error)

// mutateTries bounds how often a change is made again after conflicts, each of
// which means that somebody else's write got through.
const mutateTries = 5000

// mutate is the compare-and-swap loop: read, change, write if nothing came
// between. It begins with what the cache has, which may be old: so what fails
// on it, or leads to no write, is tried again on what the store has.
func (s *Server) mutate(ctx context.Context, q *request, f change) (*cache.Entry, error) {
	key := q.res.key(q.namespace, q.name)
	e := s.cache.Resource(q.res.prefix).Get(key)
	isFresh := false
	for range mutateTries {
		var out *cache.Entry
		err := error(storeError(store.ErrNotFound, q.subject(), q.name))
		if e != nil {
			out, err = s.mutateOnce(ctx, q, e, f)
		}
		if isWritten := out != e && !q.dryRun(); err == nil && (isWritten || isFresh) {
			return out, nil
		}
		var conflict *store.ConflictError
		switch {
		case errors.As(err, &conflict):
			e, isFresh = cache.NewEntry(conflict.Current), true
			continue
		case err != nil && (isFresh || ctx.Err() != nil):
			return nil, storeError(err, q.subject(), q.name)
		}
		newest, getErr := s.store.Get(ctx, key, 0)
		if getErr != nil {
			return nil, storeError(getErr, q.subject(), q.name)
		}
		if e != nil && newest.Revision == e.Revision {
			return out, storeError(err, q.subject(), q.name)
		}
		e, isFresh = cache.NewEntry(newest), true
	}
	return nil, apierrors.NewConflict(q.subject(), q.name, errModified)
}

func (s *Server) mutateOnce(ctx context.Context, q *request, e *cache.Entry, f change) (*cache.Entry, error) {
	old, err := s.codec.object(q.res, e)
	if err != nil {
		return nil, err
	}
	obj, err := f(old.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	if err := s.admit(ctx, q, q.attributes("UPDATE", obj, old)); err != nil {
		return nil, err
	}
	if err := s.prepareUpdate(q, obj, old); err != nil {
		return nil, err
	}
	release, err := s.services.assign(ctx, q, obj, old)
	if err != nil {
		return nil, err
	}
	out, err := s.validateAndUpdate(ctx, q, e, obj, old)
	if err != nil || q.dryRun() {
		release()
	}
	return out, err
}

func (s *Server) validateAndUpdate(ctx context.Context, q *request, e *cache.Entry, obj, old runtime.Object) (*cache.Entry, error) {
	if err := s.checkEscalation(ctx, q, obj, old); err != nil {
		return nil, err
	}
	if errs := validate(q, obj, old); len(errs) > 0 {
		return nil, apierrors.NewInvalid(q.res.GroupVersionKind().GroupKind(), q.name, errs)
	}
	if err := s.admission.Validate(ctx, q.attributes("UPDATE", obj, old)); err != nil {
		return nil, err
	}
	if rules := q.rules(); rules.Warnings != nil {
		q.warn(rules.Warnings(obj, old))
	}
	value, err := s.codec.store(q.res, obj)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(value, e.Stored()) || s.sameButTimes(q.res, obj, old, value, e.Stored()) {
		return e, nil
	}
	return s.replace(ctx, q, e, obj, value)
}

// replace writes the changed object, or removes it when nothing holds it any more.
func (s *Server) replace(ctx context.Context, q *request, e *cache.Entry, obj runtime.Object, value []byte) (*cache.Entry, error) {
	gone := finished(obj)
	switch {
	case q.dryRun():
		return unstored(e, value), nil
	case gone:
		return s.remove(ctx, q, e, obj, value)
	}
	revision, err := s.store.Update(ctx, e.Key, value, e.Revision)
	if smaller := s.smaller(q, obj, err); smaller != nil {
		value = smaller
		revision, err = s.store.Update(ctx, e.Key, value, e.Revision)
	}
	if err != nil {
		return nil, err
	}
	s.wrote(ctx, q, revision, obj)
	return cache.NewEntry(store.KeyValue{Key: e.Key, Value: value, Revision: revision}), nil
}

// remove deletes an object whose last form is value.
func (s *Server) remove(ctx context.Context, q *request, e *cache.Entry, obj runtime.Object, value []byte) (*cache.Entry, error) {
	revision, err := s.store.Delete(ctx, e.Key, e.Revision)
	if err != nil {
		return nil, err
	}
	q.traceWrite(ctx, revision, obj)
	s.services.release(ctx, obj)
	return unstored(e, value), nil
}

// unstored shows a form of an object that is not in the store: what a dry run
// would make, or the last one.
func unstored(e *cache.Entry, value []byte) *cache.Entry {
	return &cache.Entry{Key: e.Key, Revision: e.Revision, JSON: cache.Splice(value, e.Revision), Unstored: true}
}

// finished is true for an object under deletion that nothing holds any more.
func finished(obj runtime.Object) bool {
	m := accessorOf(obj)
	grace := m.GetDeletionGracePeriodSeconds()
	return m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 && (grace == nil || *grace == 0) && !holdsNamespace(obj)
}

// prepareUpdate keeps of the old object what this write may not change.
func (s *Server) prepareUpdate(q *request, obj, old runtime.Object) error {
	m, before := accessorOf(obj), accessorOf(old)
	if err := q.checkPreconditions(m, before); err != nil {
		return err
	}
	m.SetGeneration(before.GetGeneration())
	m.SetCreationTimestamp(before.GetCreationTimestamp())
	m.SetSelfLink("")
	if before.GetDeletionTimestamp() != nil {
		m.SetDeletionTimestamp(before.GetDeletionTimestamp())
		if m.GetDeletionGracePeriodSeconds() == nil {
			m.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
		}
	} else {
		m.SetDeletionTimestamp(nil)
		m.SetDeletionGracePeriodSeconds(nil)
	}
	keepParts(q, obj, old)
	if rules := q.rules(); rules.Prepare != nil {
		rules.Prepare(obj, old)
	}
	if q.res.Generation && q.sub.Name != "status" && !sameSpec(obj, old) {
		m.SetGeneration(before.GetGeneration() + 1)
	}
	return nil
}

// keepParts keeps the spec in a write to the status, and the status in others.
func keepParts(q *request, obj, old runtime.Object) {
	if q.sub.Name == "status" {
		copyPart(obj, old, "Spec")
		accessorOf(obj).SetOwnerReferences(accessorOf(old).GetOwnerReferences())
	} else if _, ok := q.res.subresource("status"); ok && q.sub.Name == "" {
		copyPart(obj, old, "Status")
	}
}

// checkPreconditions compares what the client knows with what is there.
func (q *request) checkPreconditions(m, before metav1.Object) error {
	if uid := m.GetUID(); uid != "" && uid != before.GetUID() && q.verb != "patch" { // validation refuses it in a patch
		return apierrors.NewConflict(q.subject(), q.name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, before.GetUID()))
	}
	if m.GetUID() == "" {
		m.SetUID(before.GetUID())
	}
	version := m.GetResourceVersion()
	switch {
	case version == before.GetResourceVersion():
	case version == "" && q.res.ConditionalUpdate && q.verb == "update":
		return apierrors.NewInvalid(schema.GroupKind{Group: q.res.Group, Kind: q.res.Resource}, q.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	case version != "":
		var invalid *field.Error
		if _, err := parseRevision(version); errors.As(err, &invalid) {
			return apierrors.NewInvalid(q.res.GroupVersionKind().GroupKind(), q.name, field.ErrorList{
				field.Invalid(field.NewPath("metadata", "resourceVersion"), version, invalid.Detail),
			})
		}
		return apierrors.NewConflict(q.subject(), q.name, errModified)
	}
	m.SetResourceVersion(before.GetResourceVersion())
	return nil
}
