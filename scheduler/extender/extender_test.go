package extender_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/kubesim/kubesim/scheduler/extender"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

// serve plays an extender that keeps pods off node a, likes b, refuses to bind
// to c, and leaves of two victims the first.
func serve(t *testing.T, cacheCapable bool) *extender.Extender {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /x/filter", func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		read(t, r, &args)
		result := extenderv1.ExtenderFilterResult{FailedNodes: map[string]string{"a": "not on a"}}
		if cacheCapable {
			names := slices.DeleteFunc(*args.NodeNames, func(n string) bool { return n == "a" })
			result.NodeNames = &names
		} else {
			result.Nodes = args.Nodes
			result.Nodes.Items = slices.DeleteFunc(result.Nodes.Items, func(n v1.Node) bool { return n.Name == "a" })
		}
		write(t, w, result)
	})
	mux.HandleFunc("POST /x/prioritize", func(w http.ResponseWriter, _ *http.Request) {
		write(t, w, extenderv1.HostPriorityList{{Host: "b", Score: 7}})
	})
	mux.HandleFunc("POST /x/bind", func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderBindingArgs
		read(t, r, &args)
		result := extenderv1.ExtenderBindingResult{}
		if args.Node == "c" {
			result.Error = "not to c"
		}
		write(t, w, result)
	})
	mux.HandleFunc("POST /x/preempt", func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderPreemptionArgs
		read(t, r, &args)
		if (args.NodeNameToMetaVictims != nil) != cacheCapable {
			t.Errorf("asked with %+v", args)
		}
		write(t, w, extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{"a": {Pods: []*extenderv1.MetaPod{{UID: "default/v"}}}}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	all, err := extender.New([]configv1.Extender{{
		URLPrefix: server.URL + "/x/", FilterVerb: "filter", PrioritizeVerb: "prioritize", BindVerb: "bind", PreemptVerb: "preempt",
		Weight: 2, NodeCacheCapable: cacheCapable, ManagedResources: []configv1.ExtenderManagedResource{{Name: "example.com/disk", IgnoredByScheduler: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func read(t *testing.T, r *http.Request, into any) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, w http.ResponseWriter, v any) {
	t.Helper()
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Error(err)
	}
}

func TestExtender(t *testing.T) {
	pod := frameworktest.Pod(t, "{metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {example.com/disk: 1}}}]}}")
	nodes := []*framework.NodeInfo{frameworktest.NodeInfo(t, "metadata: {name: a}"), frameworktest.NodeInfo(t, "metadata: {name: b}")}
	for _, cacheCapable := range []bool{false, true} {
		e := serve(t, cacheCapable)
		left, failed, err := e.Filter(t.Context(), pod, nodes)
		if err != nil || len(left) != 1 || left[0].Name() != "b" || failed["a"].Message() != "not on a" {
			t.Errorf("filter leaves %v, fails %v, %v", left, failed, err)
		}
		scores, err := e.Prioritize(t.Context(), pod, nodes)
		if err != nil || scores["b"] != 140 || scores["a"] != 0 {
			t.Errorf("scores are %v, %v", scores, err)
		}
		if err := e.Bind(t.Context(), pod, "b"); err != nil {
			t.Errorf("binding: %v", err)
		}
		if err := e.Bind(t.Context(), pod, "c"); err == nil || err.Error() != "not to c" {
			t.Errorf("binding to c: %v", err)
		}
		victims := []*v1.Pod{frameworktest.Pod(t, "metadata: {name: v}"), frameworktest.Pod(t, "metadata: {name: w}")}
		remain, err := e.Preempt(t.Context(), pod, map[string]*extenderv1.Victims{"a": {Pods: victims}, "b": {Pods: victims}})
		if err != nil || len(remain) != 1 || !remain["a"].Has("default/v") || remain["a"].Len() != 1 {
			t.Errorf("preemption leaves %v, %v", remain, err)
		}
	}
}

func TestInterest(t *testing.T) {
	e := serve(t, false)
	for manifest, want := range map[string]bool{
		"{}": false,
		"spec: {containers: [{name: c, resources: {limits: {example.com/disk: 1}}}]}":     true,
		"spec: {initContainers: [{name: c, resources: {limits: {example.com/disk: 1}}}]}": true,
	} {
		if got := e.Interested(frameworktest.Pod(t, manifest)); got != want {
			t.Errorf("%s: interested %v, want %v", manifest, got, want)
		}
	}
}

func TestBrokenExtender(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }))
	defer server.Close()
	all, err := extender.New([]configv1.Extender{{URLPrefix: server.URL, FilterVerb: "f"}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = all[0].Filter(t.Context(), frameworktest.Pod(t, "{}"), nil)
	if err == nil || !strings.Contains(err.Error(), "code 418: no") {
		t.Errorf("got %v", err)
	}
}
