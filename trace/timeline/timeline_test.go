package timeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/trace/timeline"
)

const (
	web = "deployments.apps/default/web"
	set = "replicasets.apps/default/web-1"
	pod = "pods/default/web-1-a"
)

// began is when the first request came in.
func began() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// request is the span of a write that was answered so many milliseconds later.
func request(verb, subresource, object string, wrote int64, answered int, parent string) trace.Span {
	return trace.Span{
		Component: "apiserver", SpanID: verb + subresource + object, ParentID: parent, Verb: verb, Subresource: subresource,
		Object: object, Wrote: wrote, Code: 200, UserAgent: "agent", Start: began(), End: began().Add(time.Duration(answered) * time.Millisecond),
	}
}

// work is the span of a component.
func work(id, component, object string, woke int64, wokeBy, decision string) trace.Span {
	return trace.Span{SpanID: id, Component: component, Object: object, Woke: woke, WokeObject: wokeBy, Decision: decision}
}

// pipeline is what is recorded between a Deployment of one replica and its pod.
func pipeline() []trace.Span {
	return []trace.Span{
		request("create", "", web, 10, 1, ""),
		request("create", "", set, 11, 3, "d"),
		work("d", "deployment-controller", web, 10, web, "create ReplicaSet web-1"),
		request("create", "", "events/default/web.1", 12, 4, "d"),
		request("create", "", pod, 13, 9, "r"), // answered later than what followed from it
		work("r", "replicaset-controller", set, 11, set, "want 1, have 0, create 1"),
		request("create", "binding", pod, 14, 6, "s"),
		work("s", "scheduler", pod, 13, pod, "node-1 of 1 feasible"),
		request("update", "status", pod, 15, 8, "k"),
		work("k", "kubelet node-1", pod, 14, pod, "Running"),
		request("update", "status", set, 16, 10, "t"),
		work("t", "replicaset-controller", set, 15, pod, "want 1, have 1"),
		request("get", "", web, 0, 11, ""),
		request("create", "", "pods/default/other", 17, 12, ""),
	}
}

func TestDescendants(t *testing.T) {
	for root, want := range map[string][]string{
		web:                  {web, set, pod},
		set:                  {set, pod},
		pod:                  {pod},
		"pods/default/other": {"pods/default/other"},
	} {
		if got := timeline.Descendants(pipeline(), root); !slices.Equal(got, want) {
			t.Errorf("descendants of %s: %v, want %v", root, got, want)
		}
	}
}

func TestBuild(t *testing.T) {
	ms := time.Millisecond
	all := []timeline.Step{
		{At: 1 * ms, Revision: 10, Who: "agent", Did: "created", Object: web},
		{At: 3 * ms, Revision: 11, Who: "deployment-controller", Did: "created", Object: set, Why: "create ReplicaSet web-1", Woke: 10, WokeObject: web},
		{At: 6 * ms, Revision: 13, Who: "replicaset-controller", Did: "created", Object: pod, Why: "want 1, have 0, create 1", Woke: 11, WokeObject: set},
		{At: 6 * ms, Revision: 14, Who: "scheduler", Did: "bound", Object: pod, Why: "node-1 of 1 feasible", Woke: 13, WokeObject: pod},
		{At: 8 * ms, Revision: 15, Who: "kubelet node-1", Did: "reported status of", Object: pod, Why: "Running", Woke: 14, WokeObject: pod},
		{At: 10 * ms, Revision: 16, Who: "replicaset-controller", Did: "reported status of", Object: set, Why: "want 1, have 1", Woke: 15, WokeObject: pod},
	}
	failed := request("update", "", web, 18, 20, "")
	failed.Code = 409
	same := request("patch", "", web, 10, 20, "") // a write that changed nothing
	for name, test := range map[string]struct {
		spans   []trace.Span
		objects []string
		want    []timeline.Step
	}{
		"the whole pipeline":           {pipeline(), []string{web, set, pod}, all},
		"in whatever order of spans":   {reversed(pipeline()), []string{web, set, pod}, all},
		"without what was refused":     {append(pipeline(), failed), []string{web, set, pod}, all},
		"without what changed nothing": {append(pipeline(), same), []string{web, set, pod}, all},
		"the root alone":               {pipeline(), []string{web}, all[:1]},
		"an object unknown":            {pipeline(), []string{"pods/default/none"}, []timeline.Step{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := timeline.Build(test.spans, test.objects); !slices.Equal(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func reversed(spans []trace.Span) []trace.Span {
	slices.Reverse(spans)
	return spans
}

func TestRender(t *testing.T) {
	const want = `TIME    REVISION  WHO                    DID                        WOKEN BY           WHY
+1.0ms  10        agent                  created deployments/web    -                  
+3.0ms  11        deployment-controller  created replicasets/web-1  10 of deployments  create ReplicaSet web-1
+6.0ms  13        replicaset-controller  created pods/web-1-a       11 of replicasets  want 1, have 0, create 1
+6.0ms  14        scheduler              bound pods/web-1-a         13                 node-1 of 1 feasible
`
	var out strings.Builder
	if err := timeline.Render(&out, timeline.Build(pipeline(), []string{web, set, pod})[:4]); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRenderFoldsPods(t *testing.T) {
	var steps []timeline.Step
	for i, name := range []string{"a", "b", "c", "d", "e", "d"} {
		steps = append(steps, timeline.Step{At: time.Duration(i) * time.Second, Revision: int64(i + 1), Did: "created", Object: "pods/default/" + name})
	}
	var out strings.Builder
	if err := timeline.Render(&out, steps); err != nil {
		t.Fatal(err)
	}
	const want = "… and 2 more pods in 3 steps, the last at +5000.0ms\n"
	if got := out.String(); !strings.HasSuffix(got, want) || strings.Contains(got, "pods/d") || !strings.Contains(got, "pods/c") {
		t.Errorf("got\n%s\nwant pods a to c and at the end %q", got, want)
	}
}
