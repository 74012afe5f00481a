package fieldmanager

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// typesText holds the types of all built-in kinds. A type is a line with its name
// and what it is; the fields of a struct follow, indented:
//
//	string numeric boolean untyped   a value
//	[atomic]T [set]T [key,key]T      a list owned as a whole, a set, a map by the keys of its elements
//	{}T {atomic}T                    a map, a map owned as a whole
//	struct, struct atomic            fields, owned one by one or as a whole
//	T | T                            one of several
//	!granular T                      T, but owned element by element
//	field T = JSON                   a field with a default
//
//go:embed types.txt
var typesText string

// Builtin returns the converter of the types in a scheme, made at its first use.
func Builtin(scheme *runtime.Scheme) func() (managedfields.TypeConverter, error) {
	return sync.OnceValues(func() (managedfields.TypeConverter, error) {
		types, err := parseTypes(typesText)
		if err != nil {
			return nil, err
		}
		parser := &typed.Parser{Schema: schema.Schema{Types: types}}
		return &builtin{managedfields.NewSchemeTypeConverter(scheme, parser), scheme, parser}, nil
	})
}

// builtin converts the types of a scheme.
type builtin struct {
	managedfields.TypeConverter
	scheme *runtime.Scheme
	parser *typed.Parser
}

// trusted is ObjectToTyped for an object in its Go type, without looking whether it
// fits its schema: that costs as much as comparing it, and comparing tells it too.
func (b *builtin) trusted(obj runtime.Object) (*typed.TypedValue, error) {
	name, err := b.scheme.ToOpenAPIDefinitionName(obj.GetObjectKind().GroupVersionKind())
	if err != nil {
		return nil, err
	}
	v, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, err
	}
	t := b.parser.Type(name)
	//lint:ignore SA1019 deprecated for being seldom worth it
	return typed.AsTypedUnvalidated(v, t.Schema, t.TypeRef), nil
}

// parseTypes reads the text above.
func parseTypes(text string) ([]schema.TypeDef, error) {
	var types []schema.TypeDef
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, " "), " ")
		if strings.HasPrefix(line, " ") {
			field, err := parseField(name, rest)
			if err != nil {
				return nil, fmt.Errorf("field %s of %s: %w", name, types[len(types)-1].Name, err)
			}
			into := types[len(types)-1].Map
			into.Fields = append(into.Fields, field)
			continue
		}
		ref, err := parseRef(rest)
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", name, err)
		}
		types = append(types, schema.TypeDef{Name: name, Atom: ref.Inlined})
	}
	return types, nil
}

func parseField(name, text string) (schema.StructField, error) {
	text, value, hasDefault := strings.Cut(text, " = ")
	field := schema.StructField{Name: name}
	var err error
	if field.Type, err = parseRef(text); err != nil || !hasDefault {
		return field, err
	}
	return field, json.Unmarshal([]byte(value), &field.Default)
}

func parseRef(text string) (schema.TypeRef, error) {
	var ref schema.TypeRef
	if rest, ok := strings.CutPrefix(text, "!granular "); ok {
		granular := schema.Separable
		ref.ElementRelationship, text = &granular, rest
	}
	for one := range strings.SplitSeq(text, " | ") {
		if err := parseAtom(one, &ref); err != nil {
			return ref, err
		}
	}
	return ref, nil
}

// parseAtom adds one alternative to a type.
func parseAtom(text string, into *schema.TypeRef) error {
	switch text {
	case "string", "numeric", "boolean", "untyped":
		scalar := schema.Scalar(text)
		into.Inlined.Scalar = &scalar
		return nil
	case "struct":
		into.Inlined.Map = &schema.Map{}
		return nil
	case "struct atomic":
		into.Inlined.Map = &schema.Map{ElementRelationship: schema.Atomic}
		return nil
	}
	switch text[0] {
	case '[':
		keys, element, _ := strings.Cut(text[1:], "]")
		list := &schema.List{ElementRelationship: schema.Associative}
		switch keys {
		case "atomic":
			list.ElementRelationship = schema.Atomic
		case "set":
		default:
			list.Keys = strings.Split(keys, ",")
		}
		into.Inlined.List = list
		return parseElement(element, &list.ElementType)
	case '{':
		relationship, element, _ := strings.Cut(text[1:], "}")
		m := &schema.Map{ElementRelationship: schema.ElementRelationship(relationship)}
		into.Inlined.Map = m
		return parseElement(element, &m.ElementType)
	}
	if strings.ContainsAny(text, " ]}=") {
		return fmt.Errorf("malformed type %q", text)
	}
	into.NamedType = &text
	return nil
}

func parseElement(text string, into *schema.TypeRef) error {
	if text == "" {
		return fmt.Errorf("no element type")
	}
	return parseAtom(text, into)
}
