package apiserver

import (
	"context"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/strategy"
)

// removalRetry is how long a failed removal of objects waits until it is tried again.
const removalRetry = time.Second

// remove deletes the objects of a definition that is being deleted. The definition goes
// when the last of them has gone, which finalizers may delay for long.
func (d *definitions) remove(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	if !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) || !d.setRemoving(crd.Name, true) {
		return
	}
	d.s.running.Go(func() {
		defer d.setRemoving(crd.Name, false)
		for {
			err := d.removeObjects(ctx, crd.Name)
			if err == nil || ctx.Err() != nil || apierrors.IsNotFound(err) {
				return
			}
			d.s.log.Error("Failed to remove the objects of a definition", "definition", crd.Name, "err", err)
			timer := d.s.clock.NewTimer(removalRetry)
			select {
			case <-timer.C():
			case <-ctx.Done():
				timer.Stop()
				return
			}
		}
	})
}

// setRemoving notes whether the objects are being removed, and tells whether that is news.
func (d *definitions) setRemoving(name string, removing bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.known[name]
	if k == nil || k.removing == removing {
		return false
	}
	k.removing = removing
	return true
}

func (d *definitions) removeObjects(ctx context.Context, name string) error {
	done := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionFalse, Reason: "NeverEstablished", Message: "resource was never established",
	}
	if res := d.storedRow(name); res != nil {
		err := d.update(ctx, name, func(crd *apiextensionsv1.CustomResourceDefinition) {
			strategy.SetDefinitionCondition(crd, d.s.now(), apiextensionsv1.CustomResourceDefinitionCondition{
				Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue,
				Reason: "InstanceDeletionInProgress", Message: "CustomResource deletion is in progress",
			})
		})
		if err != nil {
			return err
		}
		if err := d.s.removeAll(ctx, res); err != nil {
			return err
		}
		done.Reason, done.Message = "InstanceDeletionCompleted", "removed all instances"
	}
	return d.update(ctx, name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		strategy.SetDefinitionCondition(crd, d.s.now(), done)
		crd.Finalizers = slices.DeleteFunc(crd.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
	})
}

// storedRow is the row of the stored version, nil where a definition never had objects.
func (d *definitions) storedRow(name string) *resource {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.known[name]; k != nil && k.served != nil {
		return newResource(k.served.Stored())
	}
	return nil
}

// removeAll deletes every object of a resource and waits until they are gone.
func (s *Server) removeAll(ctx context.Context, res *resource) error {
	objects := s.cache.Resource(res.prefix)
	for {
		if err := s.cache.Sync(ctx); err != nil {
			return err
		}
		changed := objects.Changed()
		if objects.Len() == 0 {
			return nil
		}
		var marked []*cache.Entry
		objects.Snapshot().Each(res.prefix, "", func(e *cache.Entry) bool {
			if e.Field("metadata.deletionTimestamp") == "" {
				marked = append(marked, e)
			}
			return true
		})
		for _, e := range marked {
			q, err := s.requestOn(ctx, res, e.Field("metadata.namespace"), e.Field("metadata.name"))
			if err != nil {
				return err
			}
			q.verb = "delete"
			if _, _, err := s.deleteObject(ctx, q, &metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		if len(marked) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
