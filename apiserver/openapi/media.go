package openapi

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// Media types.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
	mediaAny      = "*/*"
	streaming     = ";stream=watch"
)

// operations are those of all rows, whose schemas it adds.
func (c *collection) operations(rows []*kinds.Kind) ([]operation, error) {
	var out []operation
	for _, name := range []string{deleteModel, patchModel, statusModel} {
		if len(rows) > 0 {
			c.addGenerated(name)
		}
	}
	for _, k := range rows {
		r, err := c.resource(k)
		if err != nil {
			return nil, err
		}
		models := map[schema.GroupVersionKind]string{}
		for _, sub := range k.Subresources {
			if sub.Kind.Kind != "" {
				models[sub.Kind] = c.addKind(sub.Kind)
			}
		}
		out = append(out, operations(r, models)...)
	}
	return out, nil
}

func (c *collection) resource(k *kinds.Kind) (*resource, error) {
	r := &resource{Kind: k, custom: k.Unstructured}
	if k.Unstructured {
		name, err := c.addCustom(k)
		if err != nil {
			return nil, err
		}
		r.object, r.list = name, c.addCustomList(k, name)
		return r, nil
	}
	gvk := k.GroupVersionKind()
	r.object = c.addKind(gvk)
	if k.Stored() || k.Kind == "ComponentStatus" {
		gvk.Kind += "List"
		r.list = c.addKind(gvk)
	}
	return r, nil
}

// bodies are the media types of a request.
func (o operation) bodies() []string {
	switch {
	case o.patch && o.custom:
		return []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"}
	case o.patch:
		return []string{
			"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
			"application/strategic-merge-patch+json",
		}
	case o.custom:
		return []string{mediaJSON, mediaYAML}
	}
	return []string{mediaAny}
}

// answers are the media types of an answer.
func (o operation) answers() []string {
	switch {
	case o.action == "connect":
		return []string{mediaAny}
	case o.response == "":
		return []string{"text/plain"}
	case o.custom:
		return []string{mediaJSON, mediaYAML}
	case o.list:
		return []string{mediaJSON, mediaJSON + streaming, mediaYAML, mediaProtobuf, mediaProtobuf + streaming}
	}
	return []string{mediaJSON, mediaYAML, mediaProtobuf}
}

// required tells whether the request makes no sense without a body.
func (o operation) required() bool { return o.body != deleteModel }

func (o operation) extensions() map[string]any {
	if o.action == "" {
		return nil
	}
	return map[string]any{
		extensionAction: o.action,
		extensionKind:   map[string]any{"group": o.kind.Group, "version": o.kind.Version, "kind": o.kind.Kind},
	}
}
