package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxPatchOperations bounds a JSON patch, as in kube-apiserver.
const maxPatchOperations = 10000

// A few copy operations could double a document again and again.
func init() { jsonpatch.AccumulatedCopySizeLimit = maxBody }

func (s *Server) patch(ctx context.Context, q *request) error {
	media, err := mediaOf(q.r)
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	t := types.PatchType(media)
	f, err := s.patchChange(q, t, body)
	if err != nil {
		return err
	}
	if t == types.ApplyYAMLPatchType && q.sub.Name == "" {
		return s.apply(ctx, q, f)
	}
	e, err := s.mutate(ctx, q, f)
	if err != nil {
		return err
	}
	return s.writeEntry(q, http.StatusOK, e)
}

// patchChange is what a patch makes of an object of the row's version.
func (s *Server) patchChange(q *request, t types.PatchType, body []byte) (change, error) {
	if t == types.ApplyYAMLPatchType {
		return s.applyChange(q, body)
	}
	apply, err := s.patcher(q, t, body)
	if err != nil {
		return nil, err
	}
	if err := q.checkOptions("PatchOptions", t); err != nil {
		return nil, err
	}
	return s.tracked(q, func(old runtime.Object) (runtime.Object, error) { return s.patched(q, old, apply) }), nil
}

// patcher returns what turns an object's JSON into the patched JSON.
func (s *Server) patcher(q *request, t types.PatchType, body []byte) (func([]byte) ([]byte, error), error) {
	switch t {
	case types.JSONPatchType:
		return jsonPatcher(q, body)
	case types.MergePatchType:
		return func(doc []byte) ([]byte, error) {
			out, err := jsonpatch.MergePatch(doc, body)
			if err != nil {
				return nil, apierrors.NewBadRequest(err.Error())
			}
			return out, nil
		}, nil
	case types.StrategicMergePatchType:
		if q.res.Unstructured {
			break
		}
		return s.strategicPatcher(q, body)
	}
	return nil, unsupportedPatch(q)
}

func unsupportedPatch(q *request) error {
	if q.custom() {
		return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, nil,
			"the body of the request was in an unknown format - accepted media types include: %s, %s, %s", types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType)
	}
	return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, &metav1.StatusDetails{}, "415: Unsupported Media Type")
}

// notAppliable answers a patch that does not fit the object.
func notAppliable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

func jsonPatcher(q *request, body []byte) (func([]byte) ([]byte, error), error) {
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if len(patch) > maxPatchOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(patch)))
	}
	return func(doc []byte) ([]byte, error) {
		out, err := patch.Apply(doc)
		if err != nil {
			return nil, notAppliable(err)
		}
		return out, nil
	}, nil
}

func (s *Server) strategicPatcher(q *request, body []byte) (func([]byte) ([]byte, error), error) {
	schema, err := strategicpatch.NewPatchMetaFromStruct(s.codec.new(q.res.GroupVersionKind()))
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(body, &patch); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	_, kind := patch["kind"]
	_, version := patch["apiVersion"]
	if kind || version { // of no effect, unlike in the other patches
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, err
		}
		delete(fields, "kind")
		delete(fields, "apiVersion")
		if body, err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	return func(doc []byte) ([]byte, error) {
		out, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(doc, body, schema)
		if err == nil {
			return out, nil
		}
		if errors.Is(err, mergepatch.ErrNoListOfLists) {
			return nil, notAppliable(err)
		}
		for _, malformed := range []error{mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
			mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat} {
			if errors.Is(err, malformed) {
				return nil, apierrors.NewBadRequest(err.Error())
			}
		}
		return nil, err
	}, nil
}

// patched applies a patch to an object of the row's version.
func (s *Server) patched(q *request, old runtime.Object, apply func([]byte) ([]byte, error)) (runtime.Object, error) {
	doc, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	out, err := apply(doc)
	if err != nil {
		return nil, err
	}
	obj, err := s.decodePatched(q, out)
	if err != nil {
		return nil, err
	}
	s.applyDefaults(q, obj)
	m := accessorOf(obj)
	if m.GetNamespace() != "" {
		if err := q.place(m); err != nil {
			return nil, err
		}
	}
	return obj, q.checkName(m)
}

// decodePatched decodes the outcome of a patch.
func (s *Server) decodePatched(q *request, doc []byte) (runtime.Object, error) {
	gvk := q.res.GroupVersionKind()
	obj, got, err := s.codec.request(q.res, doc, gvk, true)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if (err == nil || isStrict) && *got != gvk {
		err, isStrict = unknownConversion(*got, gvk), false
	}
	switch validation := q.query.Get("fieldValidation"); {
	case err == nil || isStrict && validation == metav1.FieldValidationIgnore:
		return obj, nil
	case !isStrict || validation == metav1.FieldValidationStrict:
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(doc), err.Error()),
		})
	}
	for _, err := range strict.Errors() {
		warn(q.w, err.Error())
	}
	return obj, nil
}
