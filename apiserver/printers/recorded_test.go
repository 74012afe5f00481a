package printers_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/printers"
)

// recorded are objects of a real server with the Tables that it made of them.
type recorded struct {
	// Columns by apiVersion and kind: name, type, format, priority, description.
	Columns map[string][][5]any
	Rows    []struct {
		Case       string
		Object     json.RawMessage
		Cells      []any
		Conditions []metav1.TableRowCondition
	}
}

func load(t *testing.T) recorded {
	text, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func columnsByKind() map[schema.GroupVersionKind]*printers.Columns {
	out := map[schema.GroupVersionKind]*printers.Columns{}
	for _, k := range kinds.Builtin() {
		out[k.GroupVersionKind()] = k.Columns
		if k.Columns == nil {
			out[k.GroupVersionKind()] = printers.Default
		}
	}
	return out
}

func TestRecordedColumns(t *testing.T) {
	all := columnsByKind()
	for key, want := range load(t).Columns {
		var apiVersion, kind string
		for i, c := range key {
			if c == ' ' {
				apiVersion, kind = key[:i], key[i+1:]
			}
		}
		got := all[schema.FromAPIVersionAndKind(apiVersion, kind)].Definitions
		if len(got) != len(want) {
			t.Errorf("%s has %d columns, want %d", key, len(got), len(want))
			continue
		}
		for i, d := range got {
			row := [5]any{d.Name, d.Type, d.Format, float64(d.Priority), d.Description}
			if row != want[i] {
				t.Errorf("%s:\n got %q\nwant %q", key, row, want[i])
			}
		}
	}
}

// now is the day of the recording; its objects are a few moments old.
var now = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// masked cells hold times and addresses.
const masked = "*"

func TestRecordedRows(t *testing.T) {
	all, decoder := columnsByKind(), serializer.NewCodecFactory(kinds.Scheme()).UniversalDeserializer()
	for _, r := range load(t).Rows {
		obj, gvk, err := decoder.Decode(r.Object, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", r.Case, err)
			continue
		}
		checkRow(t, r.Case, all[*gvk].Row(obj, now), r.Cells, r.Conditions)
	}
}

func checkRow(t *testing.T, name string, row metav1.TableRow, cells []any, conditions []metav1.TableRowCondition) {
	runtime.DeepCopyJSONValue(row.Cells) // panics at a type that JSON has not
	text, err := json.Marshal(row.Cells)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if i < len(cells) && cells[i] == masked {
			got[i] = masked
		}
	}
	if !reflect.DeepEqual(got, cells) {
		t.Errorf("%s:\n got %v\nwant %v", name, got, cells)
	}
	if len(conditions)+len(row.Conditions) > 0 && !reflect.DeepEqual(row.Conditions, conditions) {
		t.Errorf("%s: conditions are %v, want %v", name, row.Conditions, conditions)
	}
}
