package fieldmanager

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	apiregistrationopenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

var update = flag.Bool("update", false, "write types.txt anew")

// types.txt is what client-go and the two other servers say of the kinds that are
// served, no more and no less.
func TestTypes(t *testing.T) {
	want := published(t)
	if *update {
		if err := os.WriteFile("types.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != typesText {
		t.Error("types.txt is not that of the libraries: run go test ./apiserver/fieldmanager -run TestTypes -update")
	}
	types, err := parseTypes(typesText)
	if err != nil {
		t.Fatal(err)
	}
	if again := print(types); again != typesText {
		t.Error("types.txt is read as something else")
	}
}

func TestParseTypesErrors(t *testing.T) {
	for _, text := range []string{"a [set]\n", "a {}\n", "a string ]\n", "a struct\n f string = {\n", "a struct\n f x=\n"} {
		if _, err := parseTypes(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// published collects the types of all kinds that have one.
func published(t *testing.T) string {
	scheme := kinds.Scheme()
	roots, all := map[string]bool{}, map[string]smd.TypeDef{}
	for _, k := range kinds.Builtin() {
		name, err := scheme.ToOpenAPIDefinitionName(k.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		roots[name] = true
		if k.Group == "authorization.k8s.io" || k.Group == "authentication.k8s.io" {
			all[name] = review(t, name)
		}
	}
	scale, err := scheme.ToOpenAPIDefinitionName(schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
	if err != nil {
		t.Fatal(err)
	}
	roots[scale] = true
	sources := [][]smd.TypeDef{
		generated(t, apiregistrationopenapi.GetOpenAPIDefinitions), generated(t, apiextensionsopenapi.GetOpenAPIDefinitions), clientTypes(t),
	}
	for _, types := range sources { // the last one wins
		for i := range types {
			all[types[i].Name] = types[i]
		}
	}
	var reached []smd.TypeDef
	for _, name := range slices.Sorted(maps.Keys(reach(all, roots))) {
		reached = append(reached, all[name])
	}
	return print(reached)
}

// review is the type of a question, which nobody publishes as it is never stored.
// What it asks has no lists but such as are owned as a whole.
func review(t *testing.T, name string) smd.TypeDef {
	text := name + ` struct
 apiVersion string
 kind string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta = {}
 spec __untyped_deduced_
 status __untyped_deduced_
`
	types, err := parseTypes(text)
	if err != nil {
		t.Fatal(err)
	}
	return types[0]
}

// clientTypes are those of the schema that client-go was generated from.
func clientTypes(t *testing.T) []smd.TypeDef {
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	v, err := applyconfigurations.NewTypeConverter(kinds.Scheme()).ObjectToTyped(namespace)
	if err != nil {
		t.Fatal(err)
	}
	return v.Schema().Types
}

func generated(t *testing.T, get common.GetOpenAPIDefinitions) []smd.TypeDef {
	models := map[string]*spec.Schema{}
	for name, definition := range get(func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) }) {
		models[name] = &definition.Schema
	}
	s, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		t.Fatal(err)
	}
	return s.Types
}

// reach finds all types that the roots are made of.
func reach(all map[string]smd.TypeDef, roots map[string]bool) map[string]bool {
	seen := map[string]bool{}
	var ref func(smd.TypeRef)
	atom := func(a smd.Atom) {
		if a.List != nil {
			ref(a.List.ElementType)
		}
		if a.Map != nil {
			ref(a.Map.ElementType)
			for _, f := range a.Map.Fields {
				ref(f.Type)
			}
		}
	}
	ref = func(r smd.TypeRef) {
		if r.NamedType == nil {
			atom(r.Inlined)
		} else if def, ok := all[*r.NamedType]; ok && !seen[*r.NamedType] {
			seen[*r.NamedType] = true
			atom(def.Atom)
		}
	}
	for name := range roots {
		ref(smd.TypeRef{NamedType: &name})
	}
	return seen
}

// print is the inverse of parseTypes.
func print(types []smd.TypeDef) string {
	var b strings.Builder
	for i := range types {
		fmt.Fprintf(&b, "%s %s\n", types[i].Name, printAtom(types[i].Atom))
		if types[i].Map == nil {
			continue
		}
		fields := slices.SortedFunc(slices.Values(types[i].Map.Fields), func(a, b smd.StructField) int { return strings.Compare(a.Name, b.Name) })
		for _, f := range fields {
			fmt.Fprintf(&b, " %s %s", f.Name, printRef(f.Type))
			switch d := f.Default.(type) {
			case nil:
			case map[any]any: // YAML's, always empty
				b.WriteString(" = {}")
			default:
				text, err := json.Marshal(d)
				if err != nil {
					panic(err)
				}
				fmt.Fprintf(&b, " = %s", text)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// deduced is a value of whatever form, told from the value itself.
const deduced = "untyped | [atomic]__untyped_atomic_ | {}__untyped_deduced_"

func printRef(r smd.TypeRef) string {
	var text string
	if r.NamedType != nil {
		text = *r.NamedType
	} else if text = printAtom(r.Inlined); text == deduced {
		text = "__untyped_deduced_" // which has a name
	}
	if r.ElementRelationship != nil {
		text = "!granular " + text
	}
	return text
}

func printAtom(a smd.Atom) string {
	var parts []string
	if a.Scalar != nil {
		parts = append(parts, string(*a.Scalar))
	}
	if l := a.List; l != nil {
		keys := strings.Join(l.Keys, ",")
		switch {
		case l.ElementRelationship == smd.Atomic:
			keys = "atomic"
		case keys == "":
			keys = "set"
		}
		parts = append(parts, "["+keys+"]"+printRef(l.ElementType))
	}
	if m := a.Map; m != nil {
		element, relationship := printRef(m.ElementType), m.ElementRelationship
		if relationship == smd.Separable { // as without
			relationship = ""
		}
		switch {
		case element != "":
			parts = append(parts, "{"+string(relationship)+"}"+element)
		case m.ElementRelationship == smd.Atomic:
			parts = append(parts, "struct atomic")
		default:
			parts = append(parts, "struct")
		}
	}
	return strings.Join(parts, " | ")
}
