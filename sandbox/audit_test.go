package sandbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox"
)

// TestAuditLog has secrets logged by metadata alone, ConfigMaps whole, and the
// rest not at all.
func TestAuditLog(t *testing.T) {
	dir := t.TempDir()
	policy, path := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	rules := `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, resources: [{resources: [secrets]}]}
- {level: RequestResponse, omitManagedFields: true, resources: [{resources: [configmaps]}]}
- {level: None}
`
	if err := os.WriteFile(policy, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, sandbox.Config{HTTP: "127.0.0.1:0", APIOnly: true, AuditLog: path, AuditPolicy: policy})
	config := &rest.Config{Host: s.URL(), Impersonate: rest.ImpersonationConfig{UserName: "jane"}, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	jane := clientFor(t, config)
	config.Impersonate = rest.ImpersonationConfig{}
	local, ctx := clientFor(t, config), t.Context()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "top-secret"}}
	if _, err := local.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := local.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := jane.CoreV1().Secrets("default").Get(ctx, "s", metav1.GetOptions{}); err == nil {
		t.Fatal("jane could read the secret")
	}
	if _, err := local.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, event := range readAudit(t, path) {
		user := event.User.Username
		if event.ImpersonatedUser != nil {
			user += " as " + event.ImpersonatedUser.Username
		}
		got = append(got, fmt.Sprintf("%s %s/%s by %s: %d %s, request %t, response %t", event.Verb, event.ObjectRef.Resource, event.ObjectRef.Name,
			user, event.ResponseStatus.Code, event.Annotations["authorization.k8s.io/decision"], event.RequestObject != nil, event.ResponseObject != nil))
	}
	want := []string{
		"create secrets/ by kubesim:local: 201 , request false, response false",
		"create configmaps/ by kubesim:local: 201 , request true, response true",
		"get secrets/s by kubesim:local as jane: 403 forbid, request false, response false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"top-secret", "dG9wLXNlY3JldA", "managedFields"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func readAudit(t *testing.T, path string) []auditv1.Event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []auditv1.Event
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		out = append(out, event)
	}
	return out
}
