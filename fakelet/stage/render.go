package stage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// Functions are what templates may ask about the simulation.
type Functions struct {
	Now, StartTime string // RFC 3339
	Version        string
	NodeName       string
	NodeIP         string
	NodePort       int
	NodeConditions any
	NodeIPOf       func(node string) (string, error)
	// PodIPOf is the address of the pod with the uid, on a node.
	PodIPOf func(node string, hostNetwork bool, uid string) (string, error)
}

func (f Functions) funcs() template.FuncMap {
	return template.FuncMap{
		"Quote": quote, "YAML": toYAML, "dict": dict,
		"list":           func(items ...any) []any { return items },
		"default":        otherwise,
		"Now":            func() string { return f.Now },
		"StartTime":      func() string { return f.StartTime },
		"Version":        func() string { return f.Version },
		"NodeName":       func() string { return f.NodeName },
		"NodeIP":         func() string { return f.NodeIP },
		"NodePort":       func() int { return f.NodePort },
		"NodeConditions": func() any { return f.NodeConditions },
		"NodeIPWith":     func(node string) (string, error) { return f.NodeIPOf(node) },
		"PodIPWith": func(node string, hostNetwork bool, uid, _, _ string) (string, error) {
			return f.PodIPOf(node, hostNetwork, uid)
		},
	}
}

// Status is what the Stage makes of the object's status: the fields to merge into
// it, none if it has no template.
func (s *Stage) Status(o Object, f Functions) (map[string]any, error) {
	tree, err := s.status.Clone()
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", s.Name, err)
	}
	var text bytes.Buffer
	if err := tree.Funcs(f.funcs()).Execute(&text, o.Data); err != nil {
		return nil, fmt.Errorf("stage %s: %w", s.Name, err)
	}
	var status map[string]any
	if err := yaml.Unmarshal(text.Bytes(), &status); err != nil {
		return nil, fmt.Errorf("stage %s: statusTemplate: %w", s.Name, err)
	}
	return status, nil
}

// Apply returns the finalizers that an object should have in place of old.
func (f *Finalizers) Apply(old []string) []string {
	kept := slices.Clone(old)
	if f.Empty {
		kept = nil
	}
	for _, item := range f.Remove {
		kept = slices.DeleteFunc(kept, func(name string) bool { return name == item.Value })
	}
	for _, item := range f.Add {
		if !slices.Contains(kept, item.Value) {
			kept = append(kept, item.Value)
		}
	}
	return kept
}

// quote makes a string of any value, in YAML's double quotes.
func quote(value any) (string, error) {
	body, err := json.Marshal(value)
	if err != nil || len(body) > 0 && body[0] == '"' {
		return string(body), err
	}
	return strconv.Quote(string(body)), nil
}

// toYAML writes a value as YAML; with an indent, on lines of its own, two spaces each.
func toYAML(value any, indent ...int) (string, error) {
	body, err := yaml.Marshal(value)
	if err != nil || len(indent) == 0 || indent[0] <= 0 {
		return string(body), err
	}
	return strings.ReplaceAll("\n"+string(body), "\n", "\n"+strings.Repeat("  ", indent[0])), nil
}

func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

// otherwise is value unless that is empty.
func otherwise(fallback, value any) any {
	if truth, ok := template.IsTrue(value); ok && truth {
		return value
	}
	return fallback
}
