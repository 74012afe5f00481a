package stage

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func parse(t *testing.T, specs ...string) Stages {
	t.Helper()
	var text strings.Builder
	for i, spec := range specs {
		fmt.Fprintf(&text, "---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: s%d}\nspec: {resourceRef: {apiGroup: v1, kind: Pod}, %s}\n", i, spec)
	}
	stages, err := Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return stages
}

func running(t *testing.T) Object {
	t.Helper()
	o, err := NewObject("Pod", &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{"wait": "5s", "until": "2026-01-01T00:01:00Z", "heavy": "7"},
		},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMatches(t *testing.T) {
	expression := func(key, operator, values string) string {
		return fmt.Sprintf("selector: {matchExpressions: [{key: '%s', operator: %s, values: [%s]}]}", key, operator, values)
	}
	for selector, want := range map[string]bool{
		"weight: 1":                                               false, // no selector
		"selector: {}":                                            true,
		"selector: {matchLabels: {app: web}}":                     true,
		"selector: {matchLabels: {app: other}}":                   false,
		"selector: {matchAnnotations: {wait: 5s}}":                true,
		"selector: {matchAnnotations: {wait: 6s}}":                false,
		expression(".status.phase", "In", "Running"):              true,
		expression(".status.phase", "NotIn", "Running"):           false,
		expression(".status.podIP", "DoesNotExist", ""):           true,
		expression(".status.podIP", "Exists", ""):                 false,
		expression(`.metadata.annotations["wait"]`, "Exists", ""): true,
		expression(`.status.conditions.[] | select( .type == "Ready" ) | .status`, "In", `"True"`): true,
		expression(`.status.none.[] | .x`, "NotIn", "y"):                                           true, // null can't be iterated
		expression(`.metadata.ownerReferences.[].kind`, "In", "Job"):                               false,
	} {
		if got := parse(t, selector)[0].Matches(t.Context(), running(t)); got != want {
			t.Errorf("%s: %t, want %t", selector, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		specs  []string
		random int64 // what is drawn
		below  int64 // out of how many, 0 for no draw
		want   string
	}{
		{[]string{"selector: {}", "selector: {matchLabels: {app: no}}"}, 0, 0, "s0"},
		{[]string{"selector: {}", "selector: {}"}, 1, 2, "s1"},
		{[]string{"selector: {}, weight: 3", "selector: {}", "selector: {}, weight: 2"}, 2, 5, "s0"},
		{[]string{"selector: {}, weight: 3", "selector: {}", "selector: {}, weight: 2"}, 3, 5, "s2"},
		{[]string{"selector: {}, weight: 3", `selector: {}, weightFrom: {expressionFrom: '.metadata.annotations["heavy"]'}`}, 9, 10, "s1"},
	} {
		var below int64
		got := parse(t, test.specs...).Choose(t.Context(), running(t), func(n int64) int64 { below = n; return test.random })
		if got == nil || got.Name != test.want || below != test.below {
			t.Errorf("%v: %+v out of %d, want %s out of %d", test.specs, got, below, test.want, test.below)
		}
	}
}

func TestDelay(t *testing.T) {
	from := func(annotation string) string {
		return fmt.Sprintf(`{expressionFrom: '.metadata.annotations["%s"]'}`, annotation)
	}
	for delay, want := range map[string]time.Duration{
		"{}":                           0,
		"{durationMilliseconds: 1500}": 1500 * time.Millisecond,
		"{durationMilliseconds: 1500, durationFrom: " + from("wait") + "}":       5 * time.Second,
		"{durationMilliseconds: 1500, durationFrom: " + from("none") + "}":       1500 * time.Millisecond,
		"{durationFrom: " + from("until") + "}":                                  time.Minute,
		"{durationMilliseconds: 1000, jitterDurationMilliseconds: 3000}":         2 * time.Second, // half way
		"{durationMilliseconds: 3000, jitterDurationMilliseconds: 1000}":         time.Second,
		"{durationMilliseconds: 1000, jitterDurationFrom: " + from("wait") + "}": 3 * time.Second,
		"{durationMilliseconds: 1000, jitterDurationFrom: " + from("none") + "}": time.Second,
	} {
		stage := parse(t, "selector: {}, delay: "+delay)[0]
		if got := stage.Delay(t.Context(), running(t), epoch, func(n int64) int64 { return n / 2 }); got != want {
			t.Errorf("%s: %s, want %s", delay, got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	functions := Functions{
		Now: "2026-01-01T00:00:00Z", NodeName: "n",
		NodeIPOf: func(node string) (string, error) { return "172.18.0.2", nil },
		PodIPOf:  func(node string, hostNetwork bool, uid string) (string, error) { return "10.244.0.2", nil },
	}
	template := `
{{ $now := Now }}
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) .metadata.name ( or .metadata.namespace "" ) | Quote }}
containerStatuses:
{{ range .spec.containers }}
{{ if eq .restartPolicy "Always" }}
- name: wrong
{{ end }}
- name: {{ .name | Quote }}
  image: {{ YAML .image }}
{{ end }}
message: {{ index ( or .metadata.none dict ) "x" | default "none" }}
reason: {{ Quote 1 }}
`
	stage := parse(t, "selector: {}, next: {statusTemplate: "+strconv.Quote(template)+"}")[0]
	got, err := stage.Status(running(t), functions)
	want := map[string]any{
		"startTime": "2026-01-01T00:00:00Z", "hostIP": "172.18.0.2", "podIP": "10.244.0.2", "message": "none", "reason": "1",
		"containerStatuses": []any{map[string]any{"name": "c", "image": "i"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
}

func TestFinalizers(t *testing.T) {
	f := Finalizers{Add: []Finalizer{{"a/b"}, {"c/d"}}, Remove: []Finalizer{{"e/f"}}}
	if got := f.Apply([]string{"c/d", "e/f", "g/h"}); !reflect.DeepEqual(got, []string{"c/d", "g/h", "a/b"}) {
		t.Error(got)
	}
	f.Empty = true
	if got := f.Apply([]string{"g/h"}); !reflect.DeepEqual(got, []string{"a/b", "c/d"}) {
		t.Error(got)
	}
}

func TestParseTellsWhatIsWrong(t *testing.T) {
	head := "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: s}\n"
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: s}":                                                                       "must be a Stage",
		head + "spec: {resourceRef: {kind: Service}, selector: {}}":                                                            "must be for Pod or Node",
		head + "spec: {resourceRef: {kind: Pod}, selector: {}, unknown: 1}":                                                    "unknown",
		head + "spec: {resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: '.[', operator: Exists}]}}":               "expression .[",
		head + "spec: {resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: .a, operator: Is}]}}":                     `unknown operator "Is"`,
		head + "spec: {resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: .a, operator: In}]}}":                     "needs values",
		head + "spec: {resourceRef: {kind: Pod}, selector: {}, next: {statusTemplate: '{{ Unknown }}'}}":                       `"Unknown" not defined`,
		head + "spec: {resourceRef: {kind: Pod}, selector: {}}\n---\n" + head + "spec: {resourceRef: {kind: Pod}}\n---\n# end": "there twice",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", text, err, want)
		}
	}
}
