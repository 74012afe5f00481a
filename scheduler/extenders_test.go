package scheduler

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	configv1 "k8s.io/kube-scheduler/config/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/kubesim/kubesim/scheduler/configuration"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

func TestExtendersFilterAndScore(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			t.Error(err)
		}
		var answer any = extenderv1.HostPriorityList{{Host: "node-3", Score: 10}}
		if strings.HasSuffix(r.URL.Path, "/filter") {
			names := slices.DeleteFunc(*args.NodeNames, func(n string) bool { return n == "node-1" || args.Pod.Name == "unwanted" })
			answer = extenderv1.ExtenderFilterResult{NodeNames: &names, FailedNodes: map[string]string{"node-1": "extender says no"}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	config := configuration.Default()
	config.Extenders = []configv1.Extender{
		{URLPrefix: "http://127.0.0.1:1", FilterVerb: "filter", Ignorable: true},
		{URLPrefix: server.URL, FilterVerb: "filter", PrioritizeVerb: "prioritize", Weight: 10, NodeCacheCapable: true},
	}
	config.PercentageOfNodesToScore = ptr.To[int32](100)
	s := idle(t, Config{Seed: 1, Configuration: config})
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		s.cache.SetNode(frameworktest.Node(t, "metadata: {name: "+name+"}"))
	}
	if node, diagnosis := place(t, s, frameworktest.Pending(t, "metadata: {name: p}")); diagnosis != nil || node != "node-3" {
		t.Errorf("got node %q, want the one that the extender likes", node)
	}
	_, diagnosis := place(t, s, frameworktest.Pending(t, "{metadata: {name: unwanted}, spec: {nodeSelector: {a: b}}}"))
	if diagnosis == nil || strings.Contains(diagnosis.Message(), "extender") {
		t.Errorf("the extender was asked about no nodes: %v", diagnosis)
	}
	_, diagnosis = place(t, s, frameworktest.Pending(t, "metadata: {name: unwanted}"))
	if diagnosis == nil || !strings.Contains(diagnosis.Message(), "1 extender says no") {
		t.Errorf("got %v, want the extender's reason", diagnosis)
	}
}
