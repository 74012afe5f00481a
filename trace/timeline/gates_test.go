package timeline_test

import (
	"strings"
	"testing"

	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/trace/timeline"
)

func TestRenderGates(t *testing.T) {
	spans := []trace.Span{
		{Object: "pods/default/a", Verb: "create", Wrote: 7, Code: 201, User: "jane", AuthenticatedBy: "client certificate", AllowedBy: `ClusterRoleBinding "edit"`,
			Changed: []trace.Change{{By: "Priority", Field: "spec.priority", To: "0"}}},
		{Object: "pods/default/a", Verb: "delete", Code: 403, User: "joe", AuthenticatedBy: "token", Needed: "a role that allows delete on pods/default/a"},
		{Object: "pods/default/a", Verb: "get", Code: 200, User: "jane"},
		{Object: "pods/default/b", Verb: "create", Wrote: 8, Code: 201},
	}
	const want = `REVISION  USER  KNOWN BY            REQUEST        ALLOWED BY, OR CHANGED BY ADMISSION
7         jane  client certificate  create pods/a  ClusterRoleBinding "edit"
                                                   Priority: spec.priority: none → 0
-         joe   token               delete pods/a  refused: needs a role that allows delete on pods/default/a
`
	var out strings.Builder
	if err := timeline.RenderGates(&out, spans, []string{"pods/default/a"}); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
