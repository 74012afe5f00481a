package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// addCustom adds the schema of a custom resource: what its definition says, with
// the fields that every object has. It returns the name: the group reversed, version, kind.
func (c *collection) addCustom(k *kinds.Kind) (string, error) {
	s := &spec.Schema{}
	if k.Schema != nil {
		text, err := json.Marshal(k.Schema)
		if err == nil {
			err = json.Unmarshal(text, s)
		}
		if err != nil {
			return "", fmt.Errorf("schema of %s: %w", k.GroupVersionKind(), err)
		}
	}
	s.Type = spec.StringOrArray{"object"}
	doc := metav1.TypeMeta{}.SwaggerDoc()
	for _, key := range []string{"apiVersion", "kind"} {
		s.SetProperty(key, *spec.StringProperty().WithDescription(doc[key]))
	}
	metadata := spec.Schema{SchemaProps: spec.SchemaProps{
		Ref: c.ref(metav1.ObjectMeta{}.OpenAPIModelName()), Description: "Standard object's metadata.",
	}}
	c.addGenerated(metav1.ObjectMeta{}.OpenAPIModelName())
	s.SetProperty("metadata", metadata)
	markKind(s, k.GroupVersionKind())
	name := customName(k)
	c.schemas[name] = s
	return name, nil
}

func customName(k *kinds.Kind) string {
	parts := strings.Split(k.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.Version, k.Kind), ".")
}

// addCustomList adds the list of a custom resource.
func (c *collection) addCustomList(k *kinds.Kind, item string) string {
	meta, doc := metav1.ListMeta{}.OpenAPIModelName(), metav1.TypeMeta{}.SwaggerDoc()
	c.addGenerated(meta)
	s := &spec.Schema{}
	s.Typed("object", "")
	s.Description = k.Kind + "List is a list of " + k.Kind
	s.SetProperty("apiVersion", *spec.StringProperty().WithDescription(doc["apiVersion"]))
	s.SetProperty("kind", *spec.StringProperty().WithDescription(doc["kind"]))
	s.SetProperty("metadata", spec.Schema{SchemaProps: spec.SchemaProps{Ref: c.ref(meta), Description: "Standard list metadata."}})
	items := spec.ArrayProperty(&spec.Schema{SchemaProps: spec.SchemaProps{Ref: c.ref(item)}})
	s.SetProperty("items", *items.WithDescription("List of " + k.Resource + "."))
	s.AddRequired("items")
	gvk := k.GroupVersionKind()
	gvk.Kind += "List"
	markKind(s, gvk)
	c.schemas[item+"List"] = s
	return item + "List"
}
