package yaml_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/apiserver/yaml"
)

func TestToJSON(t *testing.T) {
	tests := map[string]struct {
		doc, want  string
		duplicates []string
		err        string
	}{
		"empty":          {doc: "", want: "null"},
		"booleans":       {doc: "a: yes\nb: Off\nc: y\nd: 'yes'\n", want: `{"a":true,"b":false,"c":true,"d":"yes"}`},
		"numbers":        {doc: "a: 0400\nb: 0x1f\nc: 1_000\nd: 1.50\n", want: `{"a":256,"b":31,"c":1000,"d":1.5}`},
		"keys":           {doc: "1: a\ntrue: b\n1.5: c\n", want: `{"1":"a","1.5":"c","true":"b"}`},
		"merge":          {doc: "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3\n", want: `{"a":{"k":1,"l":2},"b":{"k":1,"l":3}}`, duplicates: []string{`line 4: key "l" already set in map`}}, // overridden counts too
		"binary":         {doc: "a: !!binary aGk=\n", want: `{"a":"hi"}`},
		"duplicates":     {doc: "a: 1\nb:\n  c: 2\nb:\n  c: 3\na: 4\n", want: `{"a":4,"b":{"c":3}}`, duplicates: []string{`line 5: key "b" already set in map`, `line 6: key "a" already set in map`}},
		"not a document": {doc: "a:\n\tb: 1\n", err: "yaml: line 2: found character that cannot start any token"},
		"complex key":    {doc: "? [a]\n: b\n", err: "yaml: invalid map key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, duplicates, err := yaml.ToJSON([]byte(test.doc))
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				}
			case err != nil:
				t.Error(err)
			case string(got) != test.want || !slices.Equal(duplicates, test.duplicates):
				t.Errorf("got %s %q, want %s %q", got, duplicates, test.want, test.duplicates)
			}
		})
	}
}

// TestBombs makes sure that a small document can't become a huge one.
func TestBombs(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := byte('b'); c <= 'i'; c++ {
		before := "*" + string(c-1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat(before+", ", 8) + before + "]\n"
	}
	if _, _, err := yaml.ToJSON([]byte(bomb)); err == nil {
		t.Error("excessive aliasing went through")
	}
	if _, _, err := yaml.ToJSON([]byte(strings.Repeat("[", 100_000))); err == nil {
		t.Error("excessive nesting went through")
	}
}
