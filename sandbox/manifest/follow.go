package manifest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
)

// Follow calls told with each change of an object's progress, and returns when
// it runs.
func (c *Client) Follow(ctx context.Context, posted *Posted, told func(words string)) error {
	words, done := Progress(posted.Object)
	if words != "" {
		told(words)
	}
	if done {
		return nil
	}
	changes, err := c.resource(posted.mapping, posted.Object.GetNamespace()).Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, posted.Object.GetName()).String(),
		ResourceVersion: posted.Object.GetResourceVersion(),
	})
	if err != nil {
		return fmt.Errorf("following %s: %w", posted.Name(), err)
	}
	defer changes.Stop()
	for event := range changes.ResultChan() {
		obj, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case event.Type == watch.Error:
			return fmt.Errorf("following %s: %w", posted.Name(), apierrors.FromObject(event.Object))
		case event.Type == watch.Deleted:
			return fmt.Errorf("following %s: it was deleted", posted.Name())
		case !ok:
			continue
		}
		now, done := Progress(obj)
		if now != words {
			words = now
			told(words)
		}
		if done {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("following %s: the watch ended", posted.Name())
}
