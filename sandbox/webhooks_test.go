package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubesim/kubesim/sandbox"
)

// hookConfig writes the kubeconfig file of a webhook that answers reviews.
func hookConfig[T any](t *testing.T, answer func(*T)) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review T
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		answer(&review)
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["hook"] = &clientcmdapi.Cluster{Server: server.URL, InsecureSkipTLSVerify: true}
	config.Contexts["hook"] = &clientcmdapi.Context{Cluster: "hook"}
	config.CurrentContext = "hook"
	file := filepath.Join(t.TempDir(), "hook.kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWebhooksDecide has one webhook say whose a token is, and another what he may
// do: yes, no opinion, and a no that the modes after it don't change.
func TestWebhooksDecide(t *testing.T) {
	var asked atomic.Int32
	authorize := hookConfig(t, func(review *authorizationv1.SubjectAccessReview) {
		asked.Add(1)
		if review.APIVersion != "authorization.k8s.io/v1" || review.Spec.User != "jane" {
			t.Errorf("asked about %s of %s", review.Spec.User, review.APIVersion)
		}
		if a := review.Spec.ResourceAttributes; a != nil {
			review.Status.Allowed = a.Resource == "pods"
			review.Status.Denied = a.Resource == "secrets"
			review.Status.Reason = "the hook says so"
		}
	})
	token := hookConfig(t, func(review *authenticationv1.TokenReview) {
		review.Status.Authenticated = review.Spec.Token == "janes"
		review.Status.User = authenticationv1.UserInfo{Username: "jane", Groups: []string{"devs"}}
	})
	dir := t.TempDir()
	start(t, sandbox.Config{
		DataDir: dir, HTTPS: "127.0.0.1:0", APIOnly: true,
		Authorization: []string{"Webhook", "AlwaysAllow"}, AuthorizationWebhook: authorize, TokenWebhook: token,
	})
	config, err := clientcmd.BuildConfigFromFlags("", sandbox.KubeconfigPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	as := func(token string) *rest.Config {
		config := rest.AnonymousClientConfig(config)
		config.BearerToken = token
		return config
	}
	core, ctx := clientFor(t, as("janes")).CoreV1(), t.Context()
	if _, err := core.Pods("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("pods, which the webhook allows: %v", err)
	}
	if _, err := core.ConfigMaps("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("configmaps, of which it has no opinion and AlwaysAllow has: %v", err)
	}
	if _, err := core.Secrets("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the hook says so") {
		t.Errorf("secrets, which it denies: %v", err)
	}
	before := asked.Load()
	if _, err := core.Pods("default").List(ctx, metav1.ListOptions{}); err != nil || asked.Load() != before {
		t.Errorf("asked %d times more about what it has allowed, error %v", asked.Load()-before, err)
	}
	if _, err := clientFor(t, as("other")).CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token that the webhook does not know: %v", err)
	}
}

// TestAuthorizationModes asks for what an ordinary user may not by any role.
func TestAuthorizationModes(t *testing.T) {
	for _, test := range []struct {
		modes   []string
		allowed bool
		reason  string
	}{
		{nil, false, "in the namespace \"default\""},
		{[]string{"RBAC"}, false, "in the namespace \"default\""},
		{[]string{"RBAC", "AlwaysAllow"}, true, ""},
		{[]string{"AlwaysDeny", "AlwaysAllow"}, true, ""},
		{[]string{"AlwaysDeny"}, false, "Everything is forbidden."},
	} {
		t.Run(strings.Join(test.modes, ","), func(t *testing.T) {
			box := start(t, sandbox.Config{APIOnly: true, Authorization: test.modes})
			config := box.RESTConfig()
			config.Impersonate.UserName = "jane"
			_, err := clientFor(t, config).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
			if test.allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), test.reason) {
				t.Errorf("error %v, want allowed %t %s", err, test.allowed, test.reason)
			}
		})
	}
}

func TestModesThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		config sandbox.Config
		want   string
	}{
		{sandbox.Config{Authorization: []string{"ABAC"}}, `--authorization-mode ABAC: "ABAC" is not a valid mode`},
		{sandbox.Config{Authorization: []string{"RBAC", "RBAC"}}, `"RBAC" is named twice`},
		{sandbox.Config{Authorization: []string{"Webhook"}}, "Webhook needs --authorization-webhook-config-file"},
		{sandbox.Config{AuthorizationWebhook: "x"}, "of no use without Webhook"},
		{sandbox.Config{Authorization: []string{"Webhook"}, AuthorizationWebhook: filepath.Join(os.TempDir(), "missing")}, "--authorization-webhook-config-file: "},
		{sandbox.Config{TokenWebhook: filepath.Join(os.TempDir(), "missing")}, "--authentication-token-webhook-config-file: "},
	} {
		box, err := sandbox.Start(t.Context(), test.config)
		if err == nil {
			_ = box.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
