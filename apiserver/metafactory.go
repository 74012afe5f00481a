package apiserver

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializerjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// metaFactory finds kind and apiVersion in a document. It does what the library's
// does, in a third of the time: it skips the other fields instead of decoding
// the document for these two, since it is decoded once more afterwards.
type metaFactory struct {
	serializerjson.SimpleMetaFactory
}

// Interpret implements serializerjson.MetaFactory.
func (f metaFactory) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	var kind, version string
	plain := gjson.ValidBytes(data)
	if plain {
		document := gjson.ParseBytes(data)
		plain = document.IsObject()
		document.ForEach(func(key, value gjson.Result) bool {
			switch name := key.String(); {
			case name == "kind":
				kind = value.String()
			case name == "apiVersion":
				version = value.String()
			case strings.EqualFold(name, "kind"), strings.EqualFold(name, "apiVersion"):
				plain = false // a spelling that encoding/json takes as well
				return false
			default:
				return true
			}
			plain = value.Type == gjson.String && utf8.ValidString(value.String())
			return plain
		})
	}
	gv, err := schema.ParseGroupVersion(version)
	if !plain || err != nil {
		return f.SimpleMetaFactory.Interpret(data) // which has the words for what is wrong
	}
	gvk := gv.WithKind(kind)
	return &gvk, nil
}
