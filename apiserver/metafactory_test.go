package apiserver

import (
	"fmt"
	"testing"

	serializerjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// FuzzInterpret holds metaFactory to the library's.
func FuzzInterpret(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"Pod","apiVersion":"v1","metadata":{"kind":"x"}}`, `{"apiVersion":"apps/v1","kind":"Deployment"}`,
		`{"kind":"A","kind":"B"}`, `{"Kind":"Pod","APIVERSION":"v1"}`, `{"kind":"Pod","KIND":"x"}`, `{"kind":1}`, `{"kind":null,"apiVersion":"v1"}`,
		`{"k\u0069nd":"P\u00f6d"}`, `{"apiVersion":"a/b/c"}`, `[]`, `""`, `null`, ``, `{`, `{"kind":"Pod"}}`, ` {"kind" : "Pod" } `, "{\"kind\":\"\xff\"}", `{"kind":"a","kind":null}`,
		`{"\u212aind":"Kelvin"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, gotErr := metaFactory{}.Interpret(data)
		want, wantErr := serializerjson.SimpleMetaFactory{}.Interpret(data)
		if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
			t.Errorf("%q: %v %v, want %v %v", data, got, gotErr, want, wantErr)
		}
	})
}

func BenchmarkInterpret(b *testing.B) {
	document := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":"` + fmt.Sprintf("%01024d", 0) + `"}}`)
	for name, factory := range map[string]serializerjson.MetaFactory{"ours": metaFactory{}, "library": serializerjson.SimpleMetaFactory{}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := factory.Interpret(document); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
