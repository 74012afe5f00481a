package validation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// byFieldName makes a value of k8s.io/api marshal under its Go field names, empty
// fields included. Kubernetes validates internal types, which have no JSON tags,
// so this is how its errors and differences show whole structs. Types of
// apimachinery (quantities, selectors, times) keep their usual form.
func byFieldName(v any) any { return fieldNamed{reflect.ValueOf(v)} }

type fieldNamed struct{ v reflect.Value }

func (f fieldNamed) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := writeValue(&b, f.v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeValue(b *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("null")
		return nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("null")
			return nil
		}
		return writeValue(b, v.Elem())
	case reflect.Struct:
		if fromAPI(v.Type()) {
			return writeStruct(b, v)
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			return writeList(b, v)
		}
	case reflect.Map:
		if !v.IsNil() {
			return writeMap(b, v)
		}
	}
	return writePlain(b, v)
}

func fromAPI(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") }

func writePlain(b *bytes.Buffer, v reflect.Value) error {
	raw, err := json.Marshal(v.Interface())
	b.Write(raw)
	return err
}

func writeStruct(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('{')
	if err := writeFields(b, v); err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}

// writeFields writes the members of an object without its braces, so that
// embedded structs join those of their parent.
func writeFields(b *bytes.Buffer, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		var member bytes.Buffer
		switch {
		case f.Anonymous && fromAPI(f.Type):
			if err := writeFields(&member, v.Field(i)); err != nil {
				return err
			}
		case f.Anonymous:
			if err := writePlain(&member, v.Field(i)); err != nil {
				return err
			}
			member.Truncate(member.Len() - len("}"))
			member.Next(len("{"))
		default:
			fmt.Fprintf(&member, "%q:", f.Name)
			if err := writeValue(&member, v.Field(i)); err != nil {
				return err
			}
		}
		if member.Len() > 0 && b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("{")) {
			b.WriteByte(',')
		}
		b.Write(member.Bytes())
	}
	return nil
}

func writeList(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeValue(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeMap(b *bytes.Buffer, v reflect.Value) error {
	members := make(map[string]json.RawMessage, v.Len())
	for it := v.MapRange(); it.Next(); {
		var member bytes.Buffer
		if err := writeValue(&member, it.Value()); err != nil {
			return err
		}
		members[it.Key().String()] = member.Bytes()
	}
	raw, err := json.Marshal(members)
	b.Write(raw)
	return err
}
