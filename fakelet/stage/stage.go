package stage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/template"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/labels"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Stage is one step of a life cycle.
type Stage struct {
	Name      string
	Kind      string // Pod or Node
	Immediate bool
	Next      Next

	spec                spec
	labels, annotations labels.Selector
	keys                []*gojq.Code // of the expressions of the selector
	weightFrom          *gojq.Code
	delayFrom           *gojq.Code
	jitterFrom          *gojq.Code
	status              *template.Template
}

// Stages are a life cycle, for pods and nodes.
type Stages []*Stage

// Parse reads Stages from YAML documents.
func Parse(data []byte) (Stages, error) {
	var stages Stages
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return stages, nil
		}
		if err != nil {
			return nil, err
		}
		var m manifest
		if err := yaml.UnmarshalStrict(document, &m); err != nil {
			return nil, err
		}
		if m.APIVersion == "" && m.Kind == "" && m.Name == "" {
			continue // a document of comments
		}
		s, err := compile(&m)
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", m.Name, err)
		}
		if slices.ContainsFunc(stages, func(o *Stage) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("stage %q is there twice", s.Name)
		}
		stages = append(stages, s)
	}
}

func compile(m *manifest) (*Stage, error) {
	ref := m.Spec.ResourceRef
	switch {
	case m.APIVersion != apiVersion || m.Kind != kind:
		return nil, fmt.Errorf("is a %s of %s, must be a %s of %s", m.Kind, m.APIVersion, kind, apiVersion)
	case m.Name == "":
		return nil, errors.New("has no name")
	case ref.APIGroup != "" && ref.APIGroup != "v1" || ref.Kind != "Pod" && ref.Kind != "Node":
		return nil, fmt.Errorf("is for %s of %s, must be for Pod or Node of v1", ref.Kind, ref.APIGroup)
	}
	s := &Stage{Name: m.Name, Kind: ref.Kind, Immediate: m.Spec.ImmediateNextStage, Next: m.Spec.Next, spec: m.Spec}
	if err := s.compileSelector(); err != nil {
		return nil, err
	}
	var err error
	if s.weightFrom, err = program(m.Spec.WeightFrom); err != nil {
		return nil, err
	}
	if d := m.Spec.Delay; d != nil {
		if s.delayFrom, err = program(d.DurationFrom); err != nil {
			return nil, err
		}
		if s.jitterFrom, err = program(d.JitterDurationFrom); err != nil {
			return nil, err
		}
	}
	// What the functions return depends on the object; here only names count.
	s.status, err = template.New("status").Funcs(Functions{}.funcs()).Parse(m.Spec.Next.StatusTemplate)
	return s, err
}

func (s *Stage) compileSelector() error {
	selector := s.spec.Selector
	if selector == nil {
		return nil
	}
	s.labels = labels.SelectorFromSet(selector.MatchLabels)
	s.annotations = labels.SelectorFromSet(selector.MatchAnnotations)
	for _, r := range selector.MatchExpressions {
		switch r.Operator {
		case "In", "NotIn":
			if len(r.Values) == 0 {
				return fmt.Errorf("expression %s: %s needs values", r.Key, r.Operator)
			}
		case "Exists", "DoesNotExist":
			if len(r.Values) > 0 {
				return fmt.Errorf("expression %s: %s takes no values", r.Key, r.Operator)
			}
		default:
			return fmt.Errorf("expression %s: unknown operator %q", r.Key, r.Operator)
		}
		key, err := program(&expression{r.Key})
		if err != nil {
			return err
		}
		s.keys = append(s.keys, key)
	}
	return nil
}

// program compiles an expression. It sees the object, and neither environment nor files.
func program(e *expression) (*gojq.Code, error) {
	if e == nil {
		return nil, nil
	}
	query, err := gojq.Parse(e.ExpressionFrom)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", e.ExpressionFrom, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("expression %s: %w", e.ExpressionFrom, err)
	}
	return code, nil
}
