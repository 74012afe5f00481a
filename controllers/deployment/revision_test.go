package deployment

import (
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestAnnotate(t *testing.T) {
	d := newDeployment(3, "1", "0")
	d.Annotations = map[string]string{"note": "x", corev1.LastAppliedConfigAnnotation: "{}", revisionAnnotation: "7"}
	for name, test := range map[string]struct {
		before, after map[string]string
		oldRevision   string
	}{
		"new": {
			after: map[string]string{"note": "x", revisionAnnotation: "3"}, oldRevision: "2",
		},
		"up to date": {
			before: map[string]string{"note": "x", revisionAnnotation: "3"}, after: nil, oldRevision: "2",
		},
		"rolled back to": {
			before:      map[string]string{"note": "x", revisionAnnotation: "1"},
			after:       map[string]string{"note": "x", revisionAnnotation: "3", historyAnnotation: "1"},
			oldRevision: "2",
		},
		"rolled back to again": {
			before:      map[string]string{"note": "x", revisionAnnotation: "3", historyAnnotation: "1"},
			after:       map[string]string{"note": "x", revisionAnnotation: "5", historyAnnotation: "1,3"},
			oldRevision: "4",
		},
		"changed note": {
			before: map[string]string{"note": "w", revisionAnnotation: "3"}, after: map[string]string{"note": "x", revisionAnnotation: "3"}, oldRevision: "2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := familyOf(d, 3, 4, "old 1/1", "new 2/2")
			f.oldSets()[0].Annotations[revisionAnnotation] = test.oldRevision
			s := &appsv1.ReplicaSet{}
			s.Annotations = maps.Clone(test.before)
			changed := f.annotate(s)
			if changed != (test.after != nil) {
				t.Errorf("changed %t", changed)
			}
			if test.after != nil && !maps.Equal(s.Annotations, test.after) {
				t.Errorf("annotations %v, want %v", s.Annotations, test.after)
			}
		})
	}
}

func TestHistoryIsBounded(t *testing.T) {
	s := &appsv1.ReplicaSet{}
	for range 1000 {
		remember(s, "1234")
	}
	if history := s.Annotations[historyAnnotation]; len(history) > maxHistoryLength || !strings.HasSuffix(history, "1234") || strings.HasPrefix(history, ",") {
		t.Errorf("history of %d characters: %.20s…", len(history), history)
	}
}

func TestConstruct(t *testing.T) {
	f := familyOf(newDeployment(3, "1", "0"), 3, 4, "old 3/3")
	s := f.construct()
	hash := s.Labels[hashLabel]
	if hash == "" || s.Name != "web-"+hash || s.Spec.Selector.MatchLabels[hashLabel] != hash || s.Spec.Template.Labels[hashLabel] != hash {
		t.Errorf("made %+v", s)
	}
	if *s.Spec.Replicas != 1 || s.Annotations[desiredReplicas] != "3" || s.Annotations[maxReplicas] != "4" {
		t.Errorf("made it with %d replicas and annotations %v", *s.Spec.Replicas, s.Annotations)
	}
	if !sameTemplate(&s.Spec.Template, &f.d.Spec.Template) {
		t.Error("its template differs by more than the hash")
	}
}

func TestExpendable(t *testing.T) {
	limit := int32(1)
	d := newDeployment(3, "1", "0")
	d.Spec.RevisionHistoryLimit = &limit
	f := familyOf(d, 3, 4, "c 0/0", "a 0/0", "b 1/1", "new 3/3")
	for i, revision := range []string{"3", "1", "2", "4"} {
		f.sets[i].Annotations[revisionAnnotation] = revision
	}
	got := f.expendable() // of revisions 1 and 2, but the latter has pods
	if len(got) != 1 || got[0].Name != "a" {
		t.Errorf("would delete %v", got)
	}
	d.Spec.RevisionHistoryLimit = nil
	if got := f.expendable(); got != nil {
		t.Errorf("would delete %v without a limit", got)
	}
}
