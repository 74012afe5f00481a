package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializerjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"

	"github.com/kubesim/kubesim/apiserver/cache"
)

// codec turns objects into bytes and back.
type codec struct {
	scheme         *runtime.Scheme
	strict, loose  runtime.Decoder // of JSON bodies
	proto          *protobuf.Serializer
	yaml, indented runtime.Encoder
	recent         *recent
}

func newCodec(scheme *runtime.Scheme) *codec {
	newJSON := func(o serializerjson.SerializerOptions) *serializerjson.Serializer {
		return serializerjson.NewSerializerWithOptions(metaFactory{}, scheme, scheme, o)
	}
	return &codec{
		scheme:   scheme,
		recent:   newRecent(),
		strict:   newJSON(serializerjson.SerializerOptions{Strict: true}),
		loose:    newJSON(serializerjson.SerializerOptions{}),
		proto:    protobuf.NewSerializer(scheme, scheme),
		yaml:     newJSON(serializerjson.SerializerOptions{Yaml: true}),
		indented: newJSON(serializerjson.SerializerOptions{Pretty: true}),
	}
}

// new returns an empty object of a kind.
func (c *codec) new(gvk schema.GroupVersionKind) runtime.Object {
	if obj, err := c.scheme.New(gvk); err == nil {
		return obj
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// newList returns an empty list of a list kind.
func (c *codec) newList(gvk schema.GroupVersionKind) runtime.Object {
	if obj, err := c.scheme.New(gvk); err == nil {
		return obj
	}
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(gvk)
	return u
}

// request decodes JSON that a client sent, with the errors of strict decoding if asked
// for. What a Go type does for a built-in kind the schema does for a custom resource.
func (c *codec) request(res *resource, body []byte, want schema.GroupVersionKind, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	decoder := c.loose
	if strict {
		decoder = c.strict
	}
	obj, gvk, err := decoder.Decode(body, &want, c.new(want))
	found, isStrict := runtime.AsStrictDecodingError(err)
	u, custom := obj.(*unstructured.Unstructured)
	if err != nil && !isStrict || !custom || *gvk != want {
		return obj, gvk, err
	}
	unknown, err := res.Custom.Coerce(u, strict)
	if err != nil {
		return nil, gvk, err
	}
	var errs []error
	if isStrict {
		errs = found.Errors()
	}
	for _, path := range unknown {
		errs = append(errs, fmt.Errorf("unknown field %q", path))
	}
	if len(errs) > 0 {
		return obj, gvk, runtime.NewStrictDecodingError(errs)
	}
	return obj, gvk, nil
}

// object decodes a cached entry into the row's own version, for the caller to change.
func (c *codec) object(res *resource, e *cache.Entry) (runtime.Object, error) {
	if obj := c.known(res, e); obj != nil {
		return obj.DeepCopyObject(), nil
	}
	return c.decode(res, e)
}

// shared is object for readers: what it returns must not be changed.
func (c *codec) shared(res *resource, e *cache.Entry) (runtime.Object, error) {
	if obj := c.known(res, e); obj != nil {
		return obj, nil
	}
	return c.decode(res, e)
}

// known is the object of an entry that was written just now, or nil.
func (c *codec) known(res *resource, e *cache.Entry) runtime.Object {
	if res.Storage != nil || res.Custom != nil || e.Unstored {
		return nil
	}
	return c.recent.get(e.Revision)
}

func (c *codec) decode(res *resource, e *cache.Entry) (runtime.Object, error) {
	obj := c.new(res.stored)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if err := u.UnmarshalJSON(e.JSON); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", e.Key, err)
		}
		return u, res.Custom.FromStored(u)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(e.JSON, obj); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", e.Key, err)
	}
	if res.Storage != nil {
		obj = res.Storage.From(obj)
		obj.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	}
	return obj, nil
}

// shown returns entries as a row shows them. A custom resource may have been stored in
// another version, or before its schema had some default; others are shown as stored.
func (c *codec) shown(res *resource, entries ...*cache.Entry) ([]*cache.Entry, error) {
	if res.Custom == nil {
		return entries, nil
	}
	out := make([]*cache.Entry, len(entries))
	var objs []*unstructured.Unstructured
	var places []int
	for i, e := range entries {
		if out[i] = e.Shown(res); out[i] != nil {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(e.JSON); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", e.Key, err)
		}
		objs, places = append(objs, u), append(places, i)
	}
	if err := res.Custom.FromStored(objs...); err != nil {
		return nil, err
	}
	for j, i := range places {
		e := entries[i]
		as, err := customEntry(res, e, objs[j])
		if err != nil {
			return nil, err
		}
		e.Show(res, as)
		out[i] = as
	}
	return out, nil
}

// customEntry is the entry with the object in the row's version; the same entry where
// that is what is stored.
func customEntry(res *resource, e *cache.Entry, u *unstructured.Unstructured) (*cache.Entry, error) {
	version := u.GetResourceVersion()
	u.SetResourceVersion("")
	head := fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, res.Kind.Kind, res.GroupVersionKind().GroupVersion())
	doc, err := unstructuredJSON(head, u)
	if err != nil {
		return nil, err
	}
	if revision, err := parseRevision(version); err == nil && revision > 0 {
		doc = cache.Splice(doc, revision)
	}
	if bytes.Equal(doc, e.JSON) {
		return e, nil
	}
	return &cache.Entry{Key: e.Key, Revision: e.Revision, JSON: doc}, nil
}

// store encodes an object of the row's version as it is kept: in the stored
// version, beginning with the row's head and metadata, without resourceVersion.
func (c *codec) store(res *resource, obj runtime.Object) ([]byte, error) {
	if res.Storage != nil {
		obj = res.Storage.To(obj)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if rv := accessor.GetResourceVersion(); rv != "" {
		accessor.SetResourceVersion("")
		defer accessor.SetResourceVersion(rv)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		stored, err := res.Custom.ToStored(u)
		if err != nil {
			return nil, err
		}
		return unstructuredJSON(res.head, stored)
	}
	obj.GetObjectKind().SetGroupVersionKind(res.stored)
	return json.Marshal(obj)
}

// unstructuredJSON writes kind, apiVersion and metadata first, where a struct has them.
func unstructuredJSON(head []byte, u *unstructured.Unstructured) ([]byte, error) {
	metadata, err := json.Marshal(u.Object["metadata"])
	if err != nil {
		return nil, err
	}
	rest := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		if k != "kind" && k != "apiVersion" && k != "metadata" {
			rest[k] = v
		}
	}
	tail, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	out := append(append(bytes.Clone(head), `"metadata":`...), metadata...)
	if len(rest) == 0 {
		return append(out, '}'), nil
	}
	return append(append(out, ','), tail[1:]...), nil
}

// encode writes an object in a media type. The object's kind must be set.
func (c *codec) encode(f form, obj runtime.Object) ([]byte, error) {
	var buf bytes.Buffer
	var err error
	switch {
	case f.media == mediaProtobuf:
		err = c.proto.Encode(obj, &buf)
	case f.media == mediaYAML:
		err = c.yaml.Encode(obj, &buf)
	case f.pretty:
		err = c.indented.Encode(obj, &buf)
	default:
		err = json.NewEncoder(&buf).Encode(obj)
	}
	return buf.Bytes(), err
}
