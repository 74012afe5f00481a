package apiserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/printers"
)

// writeEntry answers with an object as it is stored; with the stored bytes
// themselves where that is the form asked for.
func (s *Server) writeEntry(q *request, code int, e *cache.Entry) error {
	if q.form.plain() && q.res.Storage == nil {
		shown, err := s.codec.shown(q.res, e)
		if err != nil {
			return err
		}
		write(q.w, code, q.form, shown[0].JSON, []byte{'\n'})
		return nil
	}
	obj, err := s.view(q, e)
	if err != nil {
		return err
	}
	return s.writeObject(q, code, obj)
}

// view makes the object to encode for the form asked for.
func (s *Server) view(q *request, e *cache.Entry) (runtime.Object, error) {
	switch q.form.as {
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		shown, err := s.codec.shown(q.res, e)
		if err != nil {
			return nil, err
		}
		return partial(q.res, shown[0])
	case "Table":
		return s.tableOf(q, []*cache.Entry{e})
	}
	return s.codec.shared(q.res, e)
}

// writeObject answers with an object that is not stored, such as a Scale.
func (s *Server) writeObject(q *request, code int, obj runtime.Object) error {
	body, err := s.codec.encode(q.form, obj)
	if err != nil {
		return err
	}
	write(q.w, code, q.form, body)
	return nil
}

// partial decodes an object's metadata alone.
func partial(res *resource, e *cache.Entry) (*metav1.PartialObjectMetadata, error) {
	var p metav1.PartialObjectMetadata
	if err := json.Unmarshal([]byte(gjson.GetBytes(e.JSON, "metadata").Raw), &p.ObjectMeta); err != nil {
		return nil, err
	}
	if res.DerivedAnnotation != "" {
		delete(p.Annotations, res.DerivedAnnotation)
	}
	p.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
	return &p, nil
}

// tableOf prints objects as the rows of a Table.
func (s *Server) tableOf(q *request, entries []*cache.Entry) (*metav1.Table, error) {
	columns := q.res.Columns
	if columns == nil {
		columns = printers.Default
	}
	t := &metav1.Table{ColumnDefinitions: columns.Definitions, Rows: []metav1.TableRow{}}
	t.TypeMeta = metav1.TypeMeta{Kind: "Table", APIVersion: "meta.k8s.io/v1"}
	for _, e := range entries {
		row, err := s.tableRow(q, columns, e)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	if len(entries) == 1 {
		t.ResourceVersion = strconv.FormatInt(entries[0].Revision, 10)
	}
	return t, nil
}

func (s *Server) tableRow(q *request, columns *printers.Columns, e *cache.Entry) (metav1.TableRow, error) {
	obj, err := s.codec.shared(q.res, e)
	if err != nil {
		return metav1.TableRow{}, err
	}
	row := columns.Row(obj, s.clock.Now())
	switch q.query.Get("includeObject") {
	case string(metav1.IncludeNone):
	case string(metav1.IncludeObject):
		row.Object.Object = obj
	default:
		p, err := partial(q.res, e)
		if err != nil {
			return row, err
		}
		row.Object.Object = p
	}
	return row, nil
}

// writeList answers with a list of stored objects.
func (s *Server) writeList(ctx context.Context, q *request, list metav1.ListMeta, entries []*cache.Entry) error {
	if q.form.as != "Table" {
		var err error
		if entries, err = s.codec.shown(q.res, entries...); err != nil {
			return err
		}
	}
	if q.form.plain() && q.res.Storage == nil {
		return s.streamList(q, list, entries)
	}
	body, err := s.encodeList(ctx, q, list, entries)
	if err != nil {
		return err
	}
	write(q.w, http.StatusOK, q.form, body)
	return nil
}

// streamList writes a JSON list of stored objects without decoding them, and
// without a copy of it all in memory.
func (s *Server) streamList(q *request, list metav1.ListMeta, entries []*cache.Entry) error {
	head, err := json.Marshal(metav1.TypeMeta{Kind: q.res.ListKindName(), APIVersion: q.res.GroupVersionKind().GroupVersion().String()})
	if err != nil {
		return err
	}
	metadata, err := json.Marshal(list)
	if err != nil {
		return err
	}
	head = append(append(append(head[:len(head)-1], `,"metadata":`...), metadata...), `,"items":[`...)
	const tail = "]}\n"
	size := len(head) + max(0, len(entries)-1) + len(tail)
	for _, e := range entries {
		open, rest := listItem(q.res, e)
		size += len(open) + len(rest)
	}
	writeHeader(q.w, http.StatusOK, q.form, size)
	out := s.sender(q.w)
	defer out.release()
	_, _ = out.Write(head) // the client is gone if it fails
	for i, e := range entries {
		if i > 0 {
			_, _ = out.Write([]byte{','})
		}
		open, rest := listItem(q.res, e)
		_, _ = out.Write(open)
		if _, err := out.Write(rest); err != nil {
			return err
		}
	}
	_, _ = out.Write([]byte(tail))
	return nil
}

// listItem is an object of a list, in two parts: built-in kinds leave kind and
// apiVersion out there.
func listItem(res *resource, e *cache.Entry) (open, rest []byte) {
	if res.Unstructured {
		return nil, e.JSON
	}
	return res.head[:1], e.JSON[len(res.head):]
}

// encodeList makes a list in a form that is not the stored one.
func (s *Server) encodeList(ctx context.Context, q *request, list metav1.ListMeta, entries []*cache.Entry) ([]byte, error) {
	switch q.form.as {
	case "Table":
		t, err := s.tableOf(q, entries)
		if err != nil {
			return nil, err
		}
		t.ListMeta = list
		return s.codec.encode(q.form, t)
	case "PartialObjectMetadataList":
		out := &metav1.PartialObjectMetadataList{ListMeta: list, Items: []metav1.PartialObjectMetadata{}}
		out.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}
		for _, e := range entries {
			p, err := partial(q.res, e)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, *p)
		}
		return s.codec.encode(q.form, out)
	}
	out, err := s.objectList(ctx, q.res, list, entries)
	if err != nil {
		return nil, err
	}
	return s.codec.encode(q.form, out)
}

// objectList decodes entries into the kind's List type.
func (s *Server) objectList(ctx context.Context, res *resource, list metav1.ListMeta, entries []*cache.Entry) (runtime.Object, error) {
	gvk := res.GroupVersionKind()
	gvk.Kind = res.ListKindName()
	out := s.codec.newList(gvk)
	items := make([]runtime.Object, 0, len(entries))
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		obj, err := s.codec.object(res, e)
		if err != nil {
			return nil, err
		}
		if !res.Unstructured {
			obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		}
		items = append(items, obj)
	}
	if err := meta.SetList(out, items); err != nil {
		return nil, err
	}
	accessor, err := meta.ListAccessor(out)
	if err != nil {
		return nil, err
	}
	accessor.SetResourceVersion(list.ResourceVersion)
	accessor.SetContinue(list.Continue)
	accessor.SetRemainingItemCount(list.RemainingItemCount)
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out, nil
}

// statusOK is the answer of a verb that has no object to show.
func statusOK(details *metav1.StatusDetails) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Details: details}
}

// statusCreated is the answer to a POST that made no object of its own.
func statusCreated() *metav1.Status {
	status := statusOK(nil)
	status.Code = http.StatusCreated
	return status
}
