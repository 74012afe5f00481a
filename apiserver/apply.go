package apiserver

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/apiserver/cache"
)

// applyTries bounds how often an apply begins anew because the object came or went
// between reading and writing.
const applyTries = 5

// applies is true for a request of server-side apply, which knows whose fields it sets.
func (q *request) applies() bool {
	media, err := mediaOf(q.r)
	return err == nil && q.verb == "patch" && types.PatchType(media) == types.ApplyYAMLPatchType
}

// apply makes the change of an applied configuration, which creates the object where
// there is none.
func (s *Server) apply(ctx context.Context, q *request, merge change) error {
	var e *cache.Entry
	var err error
	for range applyTries {
		if e, err = s.mutate(ctx, q, merge); !apierrors.IsNotFound(err) {
			break
		}
		created, createErr := s.applyNew(ctx, q, merge)
		if createErr == nil {
			return s.writeEntry(q, http.StatusCreated, created)
		}
		if err = createErr; !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	return s.writeEntry(q, http.StatusOK, e)
}

// applyChange is what an applied configuration makes of an object.
func (s *Server) applyChange(q *request, body []byte) (change, error) {
	if err := q.checkOptions("PatchOptions", types.ApplyYAMLPatchType); err != nil {
		return nil, err
	}
	content, err := decodeYAML(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	config := &unstructured.Unstructured{Object: content}
	duplicates := yaml.UnmarshalStrict(body, &map[string]any{}) // keys that stand there twice
	validation := q.query.Get("fieldValidation")
	if duplicates != nil && validation != metav1.FieldValidationIgnore && validation != metav1.FieldValidationStrict {
		q.warn([]string{duplicates.Error()})
	}
	return func(live runtime.Object) (runtime.Object, error) {
		obj, err := s.applied(q, live, config)
		if err == nil && duplicates != nil && validation == metav1.FieldValidationStrict {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", duplicates))
		}
		return obj, err
	}, nil
}

// applyNew creates the object that an applied configuration describes.
func (s *Server) applyNew(ctx context.Context, q *request, merge change) (*cache.Entry, error) {
	m, err := s.fieldManager(q.res, "")
	if err != nil {
		return nil, err
	}
	obj, err := merge(m.Empty())
	if err != nil {
		return nil, err
	}
	if uid := accessorOf(obj).GetUID(); uid != "" {
		return nil, apierrors.NewConflict(q.subject(), q.name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	accessorOf(obj).SetResourceVersion("")
	return s.createObject(ctx, q, obj)
}

// applied is the live object with an applied configuration merged into it.
func (s *Server) applied(q *request, live runtime.Object, config *unstructured.Unstructured) (runtime.Object, error) {
	m, err := s.fieldManager(q.res, q.sub.Name)
	if err != nil {
		return nil, err
	}
	force := q.force()
	obj, err := m.Apply(live, config.DeepCopy(), q.query.Get("fieldManager"), force != nil && *force)
	if err != nil {
		return nil, err
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if _, err := q.res.Custom.Coerce(u, false); err != nil {
			return nil, err
		}
	}
	after := accessorOf(obj)
	if after.GetNamespace() != "" {
		if err := q.place(after); err != nil {
			return nil, err
		}
	}
	return obj, q.checkName(after)
}

// decodeYAML is yaml.Unmarshal, but whole numbers stay such.
func decodeYAML(body []byte) (map[string]any, error) {
	doc, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, fmt.Errorf("error converting YAML to JSON: %w", err)
	}
	var out map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, &out); err != nil {
		return nil, fmt.Errorf("error unmarshaling JSON: while decoding JSON: %w", err)
	}
	return out, nil
}
