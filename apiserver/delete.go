package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/validation"
	"github.com/kubesim/kubesim/store"
)

func (s *Server) delete(ctx context.Context, q *request) error {
	opts, err := s.deleteOptions(q)
	if err != nil {
		return err
	}
	e, gone, err := s.deleteObject(ctx, q, opts)
	if err != nil {
		return err
	}
	if gone && !q.res.ReturnDeleted {
		uid := e.Field("metadata.uid")
		return s.writeObject(q, http.StatusOK, statusOK(&metav1.StatusDetails{
			Name: q.name, Group: q.res.Group, Kind: q.res.Resource, UID: types.UID(uid),
		}))
	}
	return s.writeEntry(q, http.StatusOK, e)
}

// deleteOptions reads the options from body or query.
func (s *Server) deleteOptions(q *request) (*metav1.DeleteOptions, error) {
	opts := &metav1.DeleteOptions{}
	if q.r.ContentLength != 0 {
		if err := s.decodeDeleteOptions(q, opts); err != nil {
			return nil, err
		}
	}
	if v := q.query.Get("gracePeriodSeconds"); v != "" && opts.GracePeriodSeconds == nil {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, apierrors.NewBadRequest("gracePeriodSeconds: " + err.Error())
		}
		opts.GracePeriodSeconds = &n
	}
	if v := q.query.Get("propagationPolicy"); v != "" && opts.PropagationPolicy == nil {
		p := metav1.DeletionPropagation(v)
		opts.PropagationPolicy = &p
	}
	if v := q.query.Get("orphanDependents"); v != "" && opts.OrphanDependents == nil {
		orphan := isSet(q.query, "orphanDependents")
		opts.OrphanDependents = &orphan
	}
	if len(opts.DryRun) > 0 {
		q.query.Set("dryRun", opts.DryRun[0])
	}
	if errs := validation.DeleteOptions(opts); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	if opts.PropagationPolicy == nil && opts.OrphanDependents == nil && q.res.OrphanByDefault && q.res.Group == batchv1.GroupName {
		q.warn([]string{jobOrphans})
	}
	return opts, nil
}

// jobOrphans warns of what only the deletion of Jobs does, for old times' sake;
// ReplicationControllers do the same silently.
const jobOrphans = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

func (s *Server) decodeDeleteOptions(q *request, into *metav1.DeleteOptions) error {
	body, err := q.readBody()
	if err != nil || len(body) == 0 {
		return err
	}
	media, err := mediaOf(q.r)
	if err != nil {
		return err
	}
	decoder := runtime.Decoder(s.codec.loose)
	if media == mediaProtobuf {
		decoder = s.codec.proto
	}
	want := schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	_, gvk, err := decoder.Decode(body, &want, into)
	if gvk != nil && *gvk == q.res.GroupVersionKind().GroupVersion().WithKind(want.Kind) && runtime.IsNotRegisteredError(err) {
		err = json.Unmarshal(body, into) // options go by any version served, also of a custom resource
	}
	if err != nil {
		return decodeError(gvk, want, body, err)
	}
	return nil
}

// deleteObject removes an object, or marks it as being deleted while something
// holds it: finalizers, dependents to wait for, or a grace period.
func (s *Server) deleteObject(ctx context.Context, q *request, opts *metav1.DeleteOptions) (*cache.Entry, bool, error) {
	key := q.res.key(q.namespace, q.name)
	if err := s.cache.Sync(ctx); err != nil {
		return nil, false, err
	}
	e := s.cache.Resource(q.res.prefix).Get(key)
	for e != nil {
		out, gone, err := s.deleteOnce(ctx, q, e, opts)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			return out, gone, storeError(err, q.subject(), q.name)
		}
		e = cache.NewEntry(conflict.Current)
	}
	return nil, false, storeError(store.ErrNotFound, q.subject(), q.name)
}

func (s *Server) deleteOnce(ctx context.Context, q *request, e *cache.Entry, opts *metav1.DeleteOptions) (*cache.Entry, bool, error) {
	obj, err := s.codec.object(q.res, e)
	if err != nil {
		return nil, false, err
	}
	old := obj.DeepCopyObject()
	if err := s.admission.Validate(ctx, q.attributes("DELETE", nil, old)); err != nil {
		return nil, false, err
	}
	m := accessorOf(obj)
	if err := checkDeletePreconditions(q, m, opts.Preconditions); err != nil {
		return nil, false, err
	}
	if q.res.Terminate != nil && m.GetDeletionTimestamp() == nil {
		q.res.Terminate(obj, s.now())
	} else {
		m.SetFinalizers(deletionFinalizers(q.res, m, opts))
		s.markDeleted(obj, graceOf(obj, opts))
	}
	value, err := s.codec.store(q.res, obj)
	if err != nil {
		return nil, false, err
	}
	gone := finished(obj)
	switch {
	case gone && q.dryRun():
		return e, true, nil
	case gone:
		last, err := s.remove(ctx, q, e, obj, value)
		if _, graceful := obj.(*corev1.Pod); !graceful {
			last = e // as it stood
		}
		return last, true, err
	}
	if string(value) == string(e.Stored()) {
		return e, false, nil
	}
	out, err := s.replace(ctx, q, e, obj, value)
	return out, false, err
}

func checkDeletePreconditions(q *request, m metav1.Object, p *metav1.Preconditions) error {
	kind := schema.GroupResource{Group: q.res.Group, Resource: q.res.Kind.Kind} // errors of a deletion name the kind
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != m.GetUID():
		return apierrors.NewConflict(kind, q.name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, m.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion():
		return apierrors.NewConflict(kind, q.name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// deletionFinalizers are the object's finalizers with the garbage collector's
// two as the propagation policy wants them.
func deletionFinalizers(res *resource, m metav1.Object, opts *metav1.DeleteOptions) []string {
	has := func(name string) bool { return slices.Contains(m.GetFinalizers(), name) }
	orphan, foreground := has(metav1.FinalizerOrphanDependents), has(metav1.FinalizerDeleteDependents)
	switch {
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	case opts.OrphanDependents != nil:
		orphan, foreground = *opts.OrphanDependents, false
	case !orphan && !foreground:
		orphan = res.OrphanByDefault
	}
	out := slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}

// graceOf is how many seconds the object may take to end. Only pods may take any.
func graceOf(obj runtime.Object, opts *metav1.DeleteOptions) int64 {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return 0
	}
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if g := pod.Spec.TerminationGracePeriodSeconds; g != nil {
		grace = *g
	}
	if opts.GracePeriodSeconds != nil {
		grace = *opts.GracePeriodSeconds
	}
	if grace < 0 {
		grace = 1
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		grace = 0
	}
	return grace
}

// markDeleted sets the time of deletion. A second deletion can only bring it nearer.
func (s *Server) markDeleted(obj runtime.Object, grace int64) {
	m := accessorOf(obj)
	if before := m.GetDeletionGracePeriodSeconds(); m.GetDeletionTimestamp() != nil {
		if before != nil && grace < *before {
			at := metav1.NewTime(m.GetDeletionTimestamp().Add(-time.Duration(*before-grace) * time.Second))
			m.SetDeletionTimestamp(&at)
			m.SetDeletionGracePeriodSeconds(&grace)
		}
		return
	}
	at := metav1.NewTime(s.now().Add(time.Duration(grace) * time.Second))
	m.SetDeletionTimestamp(&at)
	if terminateNamespace(obj) {
		return
	}
	m.SetDeletionGracePeriodSeconds(&grace)
	if m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
}

func (s *Server) deleteCollection(ctx context.Context, q *request) error {
	opts, err := s.deleteOptions(q)
	if err != nil {
		return err
	}
	sel, err := s.selectionOf(q)
	if err != nil {
		return err
	}
	p, err := s.page(ctx, q, sel)
	if err != nil {
		return err
	}
	deleted := []*cache.Entry{}
	for _, e := range p.entries {
		one := *q
		one.name, one.namespace = e.Field("metadata.name"), e.Field("metadata.namespace")
		out, _, err := s.deleteObject(ctx, &one, opts)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		deleted = append(deleted, out)
	}
	return s.writeList(ctx, q, metav1.ListMeta{ResourceVersion: formatRevision(p.revision)}, deleted)
}
