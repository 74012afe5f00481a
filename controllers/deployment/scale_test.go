package deployment

import "testing"

func TestSpread(t *testing.T) {
	for name, test := range map[string]struct {
		replicas     int32
		surge        string
		wanted, most int // before
		sets         []string
		want         string
	}{
		"one active":                   {5, "1", 3, 4, []string{"old 0/0", "new 3/3"}, "new to 5"},
		"none active, the new one":     {5, "1", 0, 0, []string{"old 0/0", "new 0/0"}, "new to 5"},
		"none active, no new one":      {5, "1", 0, 0, []string{"older 0/0", "old 0/0"}, "old to 5"},
		"saturated":                    {3, "1", 3, 4, []string{"old 1/1", "new 3/3"}, "old to 0"},
		"stuck rollout scaled up":      {15, "3", 10, 13, []string{"old 8/8", "new 5/0"}, "old to 11, new to 7"},
		"stuck rollout scaled down":    {5, "3", 10, 13, []string{"old 8/8", "new 5/0"}, "old to 5, new to 3"},
		"stuck rollout scaled to zero": {0, "3", 10, 13, []string{"old 8/8", "new 5/0"}, "old to 0, new to 0"},
		"equals: the newer gains":      {6, "1", 4, 5, []string{"old 2/2", "new 2/0"}, "new to 4, old to 3"},
		"equals: the older loses":      {3, "1", 7, 8, []string{"old 4/4", "new 4/0"}, "old to 2, new to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := familyOf(newDeployment(test.replicas, test.surge, "1"), test.wanted, test.most, test.sets...)
			if got := words(f.spread()); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestRescaled(t *testing.T) {
	for name, test := range map[string]struct {
		replicas int32
		sets     []string
		want     bool
	}{
		"same size":              {3, []string{"new 3/3"}, false},
		"other size":             {4, []string{"new 3/3"}, true},
		"inactive ones are left": {4, []string{"new 0/0"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := familyOf(newDeployment(test.replicas, "1", "0"), 3, 4, test.sets...).rescaled(); got != test.want {
				t.Errorf("rescaled %t, want %t", got, test.want)
			}
		})
	}
}
