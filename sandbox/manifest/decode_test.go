package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sandbox/manifest"
)

func TestDecode(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		want []string // kind/name
		err  string
	}{
		"nothing":      {in: ""},
		"only comment": {in: "# nothing here\n"},
		"one document": {in: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", want: []string{"Pod/a"}},
		"documents, empty ones among them": {
			in:   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n# empty\n---\napiVersion: v1\nkind: Service\nmetadata: {name: b}\n---\n",
			want: []string{"Pod/a", "Service/b"},
		},
		"JSON values in a row": {
			in:   `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}} {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`,
			want: []string{"Pod/a", "Pod/b"},
		},
		"a list": {
			in:   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n",
			want: []string{"Pod/a", "Pod/b"},
		},
		"no kind":     {in: "apiVersion: v1\nmetadata: {name: a}\n", err: "document 1: Object 'Kind' is missing"},
		"broken YAML": {in: "apiVersion: v1\nkind: Pod\n---\n\ta: b\n", err: "document 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := manifest.Decode(strings.NewReader(test.in))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error is %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, obj := range objects {
				got = append(got, obj.GetKind()+"/"+obj.GetName())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("decoded %v, want %v", got, test.want)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	for name, test := range map[string]struct {
		manifest string
		words    string
		done     bool
	}{
		"a ConfigMap has arrived": {"{apiVersion: v1, kind: ConfigMap}", "", true},
		"a pod without node": {
			"{apiVersion: v1, kind: Pod, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: no nodes}]}}",
			"Pending: no nodes", false,
		},
		"a bound pod":   {"{apiVersion: v1, kind: Pod, spec: {nodeName: node-1}, status: {phase: Pending}}", "Pending on node-1", false},
		"a running pod": {"{apiVersion: v1, kind: Pod, spec: {nodeName: node-1}, status: {phase: Running}}", "Running on node-1", true},
		"a Deployment on its way": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, updatedReplicas: 3, readyReplicas: 2}}",
			"2 of 3 pods ready", false,
		},
		"a Deployment whose controller has not seen the newest spec": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 1, updatedReplicas: 3, readyReplicas: 3}}",
			"3 of 3 pods ready", false,
		},
		"a Deployment in a rollout": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 1, readyReplicas: 3}}",
			"3 of 3 pods ready", false,
		},
		"a Deployment that runs": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, readyReplicas: 3}}",
			"3 of 3 pods ready", true,
		},
		"a Deployment of none": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}",
			"0 of 0 pods ready", true,
		},
		"a Job that failed": {
			"{apiVersion: batch/v1, kind: Job, spec: {completions: 2}, status: {failed: 7, conditions: [{type: Failed, status: 'True'}]}}",
			"0 active, 0 of 2 succeeded, 7 failed", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := manifest.Decode(strings.NewReader(test.manifest))
			if err != nil || len(objects) != 1 {
				t.Fatalf("decoded %d objects, %v", len(objects), err)
			}
			words, done := manifest.Progress(objects[0])
			if words != test.words || done != test.done {
				t.Errorf("got %q, %t, want %q, %t", words, done, test.words, test.done)
			}
		})
	}
}
