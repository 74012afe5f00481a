package admission

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"
)

func TestNew(t *testing.T) {
	for _, test := range []struct {
		name            string
		disable, enable []string
		want, wantNot   string
		wantErr         string
	}{
		{name: "defaults", want: "ServiceAccount", wantNot: "AlwaysPullImages"},
		{name: "disabled", disable: []string{"ServiceAccount"}, want: "Priority", wantNot: "ServiceAccount"},
		{name: "enabled", enable: []string{"AlwaysPullImages"}, want: "AlwaysPullImages"},
		{name: "unknown", disable: []string{"Nonsense"}, wantErr: `unknown admission plugin "Nonsense", known are AlwaysAdmit, NamespaceLifecycle`},
		{name: "both", disable: []string{"Priority"}, enable: []string{"Priority"}, wantErr: "both enabled and disabled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			chain, err := New(cluster(), clock.RealClock{}, test.disable, test.enable)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(chain.Names(), test.want) || slices.Contains(chain.Names(), test.wantNot) {
				t.Errorf("plugins %v, want %s and not %s", chain.Names(), test.want, test.wantNot)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	chain, err := New(cluster(), clock.RealClock{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := chain.Names()
	if names[0] != "NamespaceLifecycle" || names[len(names)-1] != "ResourceQuota" {
		t.Errorf("order %v, want NamespaceLifecycle first and ResourceQuota last", names)
	}
}
