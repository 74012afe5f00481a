package yaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	yamlv3 "gopkg.in/yaml.v3"
)

// maxNodes bounds what aliases can blow a document up to.
const maxNodes = 1 << 20

// ToJSON turns one YAML document into JSON. The second result says
// which keys stand twice, as a strict decoder words it.
func ToJSON(doc []byte) ([]byte, []string, error) {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(doc, &root); err != nil {
		return nil, nil, err
	}
	if len(root.Content) == 0 {
		return []byte("null"), nil, nil
	}
	c := &converter{}
	v, err := c.value(root.Content[0])
	if err != nil {
		return nil, nil, err
	}
	out, err := json.Marshal(v)
	return out, c.duplicates, err
}

type converter struct {
	duplicates []string
	nodes      int
	depth      int
}

func (c *converter) value(n *yamlv3.Node) (any, error) {
	c.nodes++
	c.depth++
	defer func() { c.depth-- }()
	if c.nodes > maxNodes || c.depth > 1000 {
		return nil, errors.New("yaml: document contains excessive aliasing")
	}
	switch n.Kind {
	case yamlv3.AliasNode:
		return c.value(n.Alias)
	case yamlv3.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := c.value(item)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yamlv3.MappingNode:
		return c.mapping(n)
	}
	return scalar(n)
}

func (c *converter) mapping(n *yamlv3.Node) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			if err := c.merge(out, n.Content[i+1]); err != nil {
				return nil, err
			}
			continue
		}
		key, err := keyOf(n.Content[i])
		if err != nil {
			return nil, err
		}
		v, err := c.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		c.set(out, key, v, n.Content[i+1].Line)
	}
	return out, nil
}

// set notes a key that is there already, a merged one too. The line is the value's.
func (c *converter) set(into map[string]any, key string, v any, line int) {
	if _, ok := into[key]; ok {
		c.duplicates = append(c.duplicates, fmt.Sprintf("line %d: key %q already set in map", line, key))
	}
	into[key] = v
}

// merge takes over the keys of <<:. Of a list's maps the first counts.
func (c *converter) merge(into map[string]any, n *yamlv3.Node) error {
	v, err := c.value(n)
	if err != nil {
		return err
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, m := range slices.Backward(list) {
		from, ok := m.(map[string]any)
		if !ok {
			return errors.New("yaml: map merge requires map or sequence of maps as the value")
		}
		maps.Copy(into, from)
	}
	return nil
}

func keyOf(n *yamlv3.Node) (string, error) {
	v, err := scalar(n)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "null", nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return fmt.Sprint(v), nil
}

// scalar resolves a value as YAML 1.1 does.
func scalar(n *yamlv3.Node) (any, error) {
	if n.Kind == yamlv3.AliasNode {
		return scalar(n.Alias)
	}
	if n.Kind != yamlv3.ScalarNode {
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("yaml: invalid map key: %#v", v)
	}
	if n.Style&(yamlv3.SingleQuotedStyle|yamlv3.DoubleQuotedStyle|yamlv3.LiteralStyle|yamlv3.FoldedStyle) != 0 {
		if n.Tag == "!!binary" {
			var s string
			err := n.Decode(&s)
			return s, err
		}
		return n.Value, nil
	}
	switch n.ShortTag() {
	case "!!str":
		return plain(n.Value), nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!null":
		return nil, nil
	case "!!int":
		return integer(n.Value)
	case "!!float":
		return float(n)
	case "!!timestamp":
		return n.Value, nil
	}
	var v any
	err := n.Decode(&v)
	return v, err
}

// plain is an unquoted word: YAML 1.1 knows more booleans than 1.2.
func plain(s string) any {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false
	}
	return s
}

// integer reads 12, 0x1f, 0b11, 0o17, and 0400 as octal.
func integer(s string) (any, error) {
	clean := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(clean, 0, 64); err == nil {
		return i, nil
	}
	if u, err := strconv.ParseUint(clean, 0, 64); err == nil {
		return u, nil
	}
	f, err := strconv.ParseFloat(clean, 64)
	return f, err
}

func float(n *yamlv3.Node) (any, error) {
	var f float64
	if err := n.Decode(&f); err != nil {
		return nil, err
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("json: unsupported value: %v", f)
	}
	return f, nil
}
