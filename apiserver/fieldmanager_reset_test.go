package apiserver

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// Each exception is one of a served resource, and differs from the rule.
func TestResetFilters(t *testing.T) {
	served := map[string]bool{}
	table := newTable(nil, kinds.Builtin())
	for _, k := range table.kinds() {
		served[k.GroupResource().String()] = true
		for _, sub := range k.Subresources {
			served[k.GroupResource().String()+"/"+sub.Name] = true
		}
	}
	for name := range resetFilters {
		if !served[name] {
			t.Errorf("%s is not served", name)
		}
	}
	for _, c := range []struct{ resource, sub, kept, dropped string }{
		{"deployments", "", "spec metadata.labels", "status status.replicas"},
		{"deployments", "status", "status metadata.annotations", "spec.replicas metadata.labels"},
		{"daemonsets", "status", "status metadata.labels", "spec"},
		{"controllerrevisions", "", "data revision", ""},
	} {
		filter := resetFilter(table.get("apps", "v1", c.resource), c.sub)
		for _, path := range strings.Fields(c.kept) {
			if filter != nil && filter.Filter(fieldpath.NewSet(fieldPath(path))).Empty() {
				t.Errorf("%s/%s drops %s", c.resource, c.sub, path)
			}
		}
		for _, path := range strings.Fields(c.dropped) {
			if filter == nil || !filter.Filter(fieldpath.NewSet(fieldPath(path))).Empty() {
				t.Errorf("%s/%s keeps %s", c.resource, c.sub, path)
			}
		}
	}
}
