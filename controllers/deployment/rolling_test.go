package deployment

import "testing"

func TestFenceposts(t *testing.T) {
	for _, test := range []struct {
		replicas           int32
		surge, unavailable string
		wantSurge, wantUn  int32
	}{
		{1, "25%", "25%", 1, 0},
		{2, "25%", "25%", 1, 0},
		{5, "25%", "25%", 2, 1},
		{6, "25%", "25%", 2, 1},
		{10, "25%", "25%", 3, 2},
		{2, "0%", "1%", 0, 1}, // both 0 would never end
		{3, "1", "0", 1, 0},
		{0, "25%", "25%", 0, 1},
	} {
		f := newFamily(newDeployment(test.replicas, test.surge, test.unavailable), nil)
		if surge, unavailable := f.fenceposts(); surge != test.wantSurge || unavailable != test.wantUn {
			t.Errorf("%d with %s and %s: %d and %d, want %d and %d", test.replicas, test.surge, test.unavailable, surge, unavailable, test.wantSurge, test.wantUn)
		}
	}
}

func TestRollingSteps(t *testing.T) {
	for name, test := range map[string]struct {
		replicas           int32
		surge, unavailable string
		sets               []string
		grow, shrink       string
	}{
		"first replica set":          {3, "1", "0", []string{"new 0/0"}, "new to 3", ""},
		"surge only":                 {3, "1", "0", []string{"old 3/3", "new 0/0"}, "new to 1", ""},
		"surge is used up":           {3, "1", "0", []string{"old 3/3", "new 1/0"}, "", ""},
		"one new is available":       {3, "1", "0", []string{"old 3/3", "new 1/1"}, "", "old to 2"},
		"no surge":                   {3, "0", "1", []string{"old 3/3", "new 0/0"}, "", "old to 2"},
		"no surge, one is gone":      {3, "0", "1", []string{"old 2/2", "new 0/0"}, "new to 1", ""},
		"broken old ones go first":   {4, "1", "1", []string{"older 2/2", "old 2/0", "new 1/1"}, "", "old to 0"},
		"broken ones make no room":   {3, "1", "0", []string{"old 3/0", "new 1/0"}, "", ""},
		"broken and healthy ones go": {3, "1", "1", []string{"old 3/2", "new 1/1"}, "", "old to 2, old to 1"},
		"new one scaled by hand":     {3, "1", "0", []string{"new 5/5"}, "new to 3", ""},
		"done":                       {3, "1", "0", []string{"old 0/0", "new 3/3"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := familyOf(newDeployment(test.replicas, test.surge, test.unavailable), 0, 0, test.sets...)
			if got := words(f.growNew()); got != test.grow {
				t.Errorf("new ones: %q, want %q", got, test.grow)
			}
			if test.grow != "" {
				return
			}
			if got := words(f.shrinkOld()); got != test.shrink {
				t.Errorf("old ones: %q, want %q", got, test.shrink)
			}
		})
	}
}

// TestRollingInvariants rolls every small Deployment out, with new pods that
// become available at once, and checks the two bounds after every step.
func TestRollingInvariants(t *testing.T) {
	for replicas := int32(1); replicas <= 12; replicas++ {
		for _, bounds := range [][2]string{{"25%", "25%"}, {"0", "1"}, {"1", "0"}, {"100%", "0"}, {"0%", "1%"}, {"3", "2"}} {
			f := familyOf(newDeployment(replicas, bounds[0], bounds[1]), 0, 0, "old 0/0", "new 0/0")
			*f.sets[0].Spec.Replicas, f.sets[0].Status.AvailableReplicas = replicas, replicas
			for steps := 0; *f.newSet().Spec.Replicas < replicas || wanted(f.oldSets()) > 0; steps++ {
				changes := f.growNew()
				if len(changes) == 0 {
					changes = f.shrinkOld()
				}
				if len(changes) == 0 || steps > 100 {
					t.Fatalf("%d with %v does not end: %s", replicas, bounds, words(changes))
				}
				for _, c := range changes {
					*c.set.Spec.Replicas = c.to
					c.set.Status.AvailableReplicas = min(c.set.Status.AvailableReplicas, c.to)
				}
				if wanted(f.sets) > f.mostPods() || available(f.sets) < f.leastAvailable() {
					t.Fatalf("%d with %v: %d pods of at most %d, %d available of at least %d", replicas, bounds, wanted(f.sets), f.mostPods(), available(f.sets), f.leastAvailable())
				}
				f.newSet().Status.AvailableReplicas = *f.newSet().Spec.Replicas
			}
		}
	}
}

// TestNoGrowthBeforeOldPodsAreGone has an old ReplicaSet that was scaled down and
// still has the pod.
func TestNoGrowthBeforeOldPodsAreGone(t *testing.T) {
	f := familyOf(newDeployment(3, "1", "0"), 0, 0, "old 2/2", "new 1/1")
	f.oldSets()[0].Status.Replicas = 3
	if got := words(f.growNew()); got != "" {
		t.Errorf("grows: %s", got)
	}
	f.oldSets()[0].Status.Replicas = 2
	if got := words(f.growNew()); got != "new to 2" {
		t.Errorf("when it is gone: %q", got)
	}
}
