package sandbox_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubesim/kubesim/"

// allowed says which parts of the module a part may import besides itself.
// Dependencies point one way, and the components meet through the API alone.
func allowed() map[string][]string {
	return map[string][]string{
		"store":       {},
		"trace":       {},
		"quota":       {},
		"apiserver":   {"quota", "store", "trace"},
		"controllers": {"quota", "trace"},
		"scheduler":   {"trace"},
		"fakelet":     {"trace"},
		"sandbox":     {"apiserver", "controllers", "fakelet", "scheduler", "store", "trace", "ui"},
		"ui":          {"trace"},
		"why":         {"controllers", "scheduler", "trace"},
		"kubesimtest": {"sandbox", "trace"},
		"bench":       {"store"}, // raw etcd, to measure beside the API server
		"commands":    {"fakelet", "sandbox", "trace", "why"},
		"docs":        {}, // texts of lessons, embedded
		"lesson":      {"commands", "docs", "fakelet", "sandbox"},
		"cmd":         {"bench", "commands", "controllers", "fakelet", "lesson", "sandbox", "scheduler", "trace", "why"},
	}
}

// libraries are the small ones that live beside the server which we write ourselves:
// types and tables of the API's own objects, CEL for schemas, policies and match
// conditions, connections to webhooks and what asks them about users, and policies of audit.
func libraries() []string {
	return []string{
		"k8s.io/apiserver/pkg/apis/", "k8s.io/apiserver/pkg/cel/", "k8s.io/apiserver/pkg/util/webhook",
		"k8s.io/apiserver/pkg/admission", "k8s.io/apiserver/pkg/authentication/user", "k8s.io/apiserver/pkg/authorization/authorizer",
		"k8s.io/apiserver/pkg/audit",
		"k8s.io/apiserver/pkg/authentication/authenticator", "k8s.io/apiserver/pkg/authentication/token/cache",
		"k8s.io/apiserver/pkg/authorization/cel", "k8s.io/apiserver/plugin/pkg/authenticator/token/webhook", "k8s.io/apiserver/plugin/pkg/authorizer/webhook",
	}
}

// TestImports holds the code, tests left out, to the rules above.
func TestImports(t *testing.T) {
	rules := allowed()
	seen := map[string]bool{}
	for path, imports := range dependencies(t) {
		if path == "k8s.io/kubernetes" || strings.HasPrefix(path, "k8s.io/kubernetes/") {
			t.Errorf("%s is linked", path)
		}
		part, ours := partOf(path)
		if !ours {
			continue
		}
		seen[part] = true
		may, known := rules[part]
		if !known {
			t.Errorf("%s: there is no rule for %s", path, part)
		}
		for _, imported := range imports {
			if strings.HasPrefix(imported, "k8s.io/apiserver/") && !slices.ContainsFunc(libraries(), func(l string) bool { return strings.HasPrefix(imported, l) }) {
				t.Errorf("%s imports %s, the server that we write ourselves", path, imported)
			}
			if other, ours := partOf(imported); ours && other != part && !slices.Contains(may, other) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
	for part := range rules {
		if !seen[part] {
			t.Errorf("there is a rule for %s, which does not exist", part)
		}
	}
}

// partOf is the first folder of a package of this module.
func partOf(path string) (part string, ours bool) {
	below, ours := strings.CutPrefix(path, module)
	part, _, _ = strings.Cut(below, "/")
	return part, ours
}

// dependencies are all packages that are linked, with what they import.
func dependencies(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		packages[fields[0]] = fields[1:]
	}
	return packages
}
