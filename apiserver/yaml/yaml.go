package yaml

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// ToJSON turns one YAML document into JSON. The second result says which keys
// stand twice, as a strict decoder words it.
func ToJSON(doc []byte) ([]byte, []string, error) {
	out, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return nil, nil, err
	}
	if _, err := yaml.YAMLToJSONStrict(doc); err != nil {
		found := strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  ")
		return out, strings.Split(found, "\n  "), nil
	}
	return out, nil, nil
}
