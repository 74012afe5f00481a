package apiserver

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

const (
	// A generated name is at most this long before its random end.
	maxGeneratedBase = 63 - generatedLength
	generatedLength  = 5
	// generateTries is how often a generated name that is taken is drawn anew.
	generateTries = 8
)

func (s *Server) create(ctx context.Context, q *request) error {
	if err := q.checkOptions("CreateOptions", ""); err != nil {
		return err
	}
	obj, err := s.decodeBody(q, q.res.GroupVersionKind())
	if err != nil {
		return err
	}
	e, err := s.createObject(ctx, q, obj)
	if err != nil {
		return err
	}
	return s.writeEntry(q, http.StatusCreated, e)
}

// createObject takes a decoded object through the whole pipeline into the store.
func (s *Server) createObject(ctx context.Context, q *request, obj runtime.Object) (*cache.Entry, error) {
	m := accessorOf(obj)
	if err := q.place(m); err != nil {
		return nil, err
	}
	if m.GetName() != "" || m.GetGenerateName() == "" {
		return s.createNamed(ctx, q, obj)
	}
	original := obj.DeepCopyObject()
	for range generateTries {
		obj = original.DeepCopyObject()
		e, err := s.createNamed(ctx, q, obj)
		if !apierrors.IsAlreadyExists(err) {
			return e, err
		}
	}
	err := apierrors.NewGenerateNameConflict(q.subject(), accessorOf(obj).GetName(), 1)
	return nil, err
}

func generateName(base string) string {
	if len(base) > maxGeneratedBase {
		base = base[:maxGeneratedBase]
	}
	return base + rand.String(generatedLength)
}

// place makes sure that the object belongs where the path leads.
func (q *request) place(m metav1.Object) error {
	if !q.res.Namespaced {
		m.SetNamespace("")
		return nil
	}
	if ns := m.GetNamespace(); ns != "" && ns != q.namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.SetNamespace(q.namespace)
	return nil
}

// createNamed admits the object and then gives it what only the server may say, a
// name if it has none: so webhooks see neither, and can't change it.
func (s *Server) createNamed(ctx context.Context, q *request, obj runtime.Object) (*cache.Entry, error) {
	m := accessorOf(obj)
	q.name = m.GetName()
	if q.res.Terminating {
		return nil, apierrors.NewForbidden(q.subject(), q.name, errors.New("create not allowed while custom resource definition is terminating"))
	}
	wipeSystemFields(m)
	s.applyDefaults(q, obj)
	if !q.applies() {
		q.dropDuplicateOwners(m, "")
		s.track(q, nil, obj)
	}
	attrs := q.attributes("CREATE", obj, nil)
	if err := s.admit(ctx, q, attrs); err != nil {
		return nil, err
	}
	if err := q.place(m); err != nil {
		return nil, err
	}
	s.fillSystemFields(m)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(generateName(m.GetGenerateName()))
	}
	q.name = m.GetName()
	s.applyDefaults(q, obj) // of what admission added
	prepareCreate(q.res, obj)
	release, err := s.services.assign(ctx, q, obj, nil)
	if err != nil {
		return nil, err
	}
	e, err := s.validateAndCreate(ctx, q, obj)
	if err != nil || q.dryRun() {
		release()
	}
	return e, err
}

func (s *Server) validateAndCreate(ctx context.Context, q *request, obj runtime.Object) (*cache.Entry, error) {
	if err := s.checkEscalation(ctx, q, obj, nil); err != nil {
		return nil, err
	}
	if errs := append(s.checkAdminAccess(ctx, obj), validate(q, obj, nil)...); len(errs) > 0 {
		return nil, apierrors.NewInvalid(q.res.GroupVersionKind().GroupKind(), q.name, errs)
	}
	if err := s.mayCreate(q); err != nil {
		return nil, err
	}
	if err := s.admission.Validate(ctx, q.attributes("CREATE", obj, nil)); err != nil {
		return nil, err
	}
	if q.res.Warnings != nil {
		q.warn(q.res.Warnings(obj, nil))
	}
	value, err := s.codec.store(q.res, obj)
	if err != nil {
		return nil, err
	}
	key := q.res.key(q.namespace, q.name)
	if q.dryRun() {
		if s.cache.Resource(q.res.prefix).Get(key) != nil {
			return nil, storeError(store.ErrExists, q.subject(), q.name)
		}
		return dryEntry(key, value, accessorOf(obj).GetResourceVersion()), nil
	}
	if accessorOf(obj).GetResourceVersion() != "" {
		return nil, statusError(http.StatusInternalServerError, "", nil, "resourceVersion should not be set on objects to be created")
	}
	revision, err := s.store.Create(ctx, key, value)
	if smaller := s.smaller(q, obj, err); smaller != nil {
		value = smaller
		revision, err = s.store.Create(ctx, key, value)
	}
	if err != nil {
		return nil, storeError(err, q.subject(), q.name)
	}
	s.wrote(ctx, q, revision, obj)
	return cache.NewEntry(store.KeyValue{Key: key, Value: value, Revision: revision}), nil
}

// mayCreate refuses to create what a PUT or an apply speaks of for a user who may do
// that but not create.
func (s *Server) mayCreate(q *request) error {
	if q.verb == "create" {
		return nil
	}
	a := attributesOf(q.r, userOf(q.r.Context()))
	a.Verb = "create"
	if ok, reason := s.allowed(a); !ok {
		return refusal(a, reason)
	}
	return nil
}

// dryEntry is the answer to a dry run: what would be stored, under the
// resourceVersion that the client sent, if any.
func dryEntry(key string, value []byte, version string) *cache.Entry {
	e := &cache.Entry{Key: key, JSON: value}
	if revision, err := parseRevision(version); err == nil && revision > 0 {
		e.JSON = cache.Splice(value, revision)
	}
	return e
}

// fillSystemFields sets what only the server may say of a new object.
func (s *Server) fillSystemFields(m metav1.Object) {
	wipeSystemFields(m)
	m.SetCreationTimestamp(s.now())
	m.SetUID(types.UID(uuid.NewUUID()))
}

// wipeSystemFields drops what a client has said of it.
func wipeSystemFields(m metav1.Object) {
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

func (s *Server) now() metav1.Time {
	return metav1.NewTime(s.clock.Now()).Rfc3339Copy()
}

// applyDefaults fills what the client left out.
func (s *Server) applyDefaults(q *request, obj runtime.Object) {
	if q.res.Default != nil {
		q.res.Default(obj)
	}
}

// prepareCreate drops what a client may not set on a new object.
func prepareCreate(res *resource, obj runtime.Object) {
	if _, ok := res.subresource("status"); ok {
		if res.Kind.Kind != "Node" { // a kubelet registers with its status
			clearPart(obj, "Status")
		}
	}
	m := accessorOf(obj)
	m.SetGeneration(0)
	if res.Generation {
		m.SetGeneration(1)
	}
	if res.Prepare != nil {
		res.Prepare(obj, nil)
	}
}

// warn adds Warning headers, each text once.
func (q *request) warn(texts []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			warn(q.w, text)
		}
	}
}
