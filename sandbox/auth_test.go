package sandbox_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubesim/kubesim/sandbox"
)

func clientFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestServiceAccountByToken asks for a token, comes back with it over TLS, and
// may do what a role says and nothing else.
func TestServiceAccountByToken(t *testing.T) {
	dir := t.TempDir()
	start(t, sandbox.Config{DataDir: dir, HTTPS: "127.0.0.1:0", APIOnly: true})
	config, err := clientcmd.BuildConfigFromFlags("", sandbox.KubeconfigPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	admin, ctx := clientFor(t, config), t.Context()
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wish, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asRobot := rest.AnonymousClientConfig(config)
	asRobot.BearerToken = wish.Status.Token
	robot := clientFor(t, asRobot)
	me, err := robot.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := me.Status.UserInfo; got.Username != "system:serviceaccount:default:robot" || len(got.Groups) != 3 {
		t.Errorf("I am %+v", got)
	}
	_, err = robot.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	want := `pods is forbidden: User "system:serviceaccount:default:robot" cannot list resource "pods" in API group "" in the namespace "default"`
	if !apierrors.IsForbidden(err) || err.Error() != want {
		t.Errorf("list: %v\nwant: %s", err, want)
	}
	grantPods(t, admin)
	if _, err := robot.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("list with a role: %v", err)
	}
	if _, err := robot.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("list in another namespace: %v", err)
	}
	if err := admin.CoreV1().ServiceAccounts("default").Delete(ctx, "robot", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CoreV1().ServiceAccounts("default").List(ctx, metav1.ListOptions{}); err != nil { // waits until the cache has it
		t.Fatal(err)
	}
	if _, err := robot.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("list with a token of a deleted account: %v", err)
	}
}

// grantPods lets the robot list pods.
func grantPods(t *testing.T, admin *kubernetes.Clientset) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}},
	}}
	if _, err := admin.RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "pods"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "pods"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "robot"}},
	}
	if _, err := admin.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestWhoMayDoWhat comes with every kind of credential and with none.
func TestWhoMayDoWhat(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("jane-token,jane,1,dev\nroot-token,root,2,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := start(t, sandbox.Config{HTTP: "127.0.0.1:0", APIOnly: true, TokenFile: tokens})
	asked := start(t, sandbox.Config{HTTP: "127.0.0.1:0", APIOnly: true, TokenFile: tokens, HTTPAuth: sandbox.HTTPAuthRequired})
	closed := start(t, sandbox.Config{HTTPS: "127.0.0.1:0", APIOnly: true, TokenFile: tokens, NoAnonymous: true})
	secure := start(t, sandbox.Config{HTTPS: "127.0.0.1:0", APIOnly: true, TokenFile: tokens})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		name, token, path string
		sandbox           *sandbox.Sandbox
		code              int
		words             string
	}{
		{"local", "", "/api/v1/secrets", open, 200, `"kind":"SecretList"`},
		{"a user", "jane-token", "/api/v1/secrets", open, 403, `secrets is forbidden: User \"jane\" cannot list resource \"secrets\" in API group \"\" at the cluster scope`},
		{"a user's discovery", "jane-token", "/apis", open, 200, `APIGroupList`},
		{"a user's metrics", "jane-token", "/metrics", open, 403, `forbidden: User \"jane\" cannot get path \"/metrics\"`},
		{"what is not there", "jane-token", "/apis/none/v1/things", open, 403, `things.none is forbidden`},
		{"a master", "root-token", "/api/v1/secrets", open, 200, `"kind":"SecretList"`},
		{"a wrong token", "x", "/api/v1/secrets", open, 401, `"reason":"Unauthorized"`},
		{"nobody where asked", "", "/api/v1/secrets", asked, 403, `User \"system:anonymous\" cannot list`},
		{"nobody's health", "", "/readyz", asked, 200, "ok"},
		{"a master where asked", "root-token", "/api/v1/secrets", asked, 200, `"kind":"SecretList"`},
		{"nobody by TLS", "", "/api/v1/secrets", secure, 403, `User \"system:anonymous\" cannot list`},
		{"nobody where nobody is anonymous", "", "/readyz", closed, 401, `"reason":"Unauthorized"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, body := get(t, client, test.sandbox.URL()+test.path, test.token)
			if code != test.code || !strings.Contains(body, test.words) {
				t.Errorf("%d %s\nwant %d with %s", code, body, test.code, test.words)
			}
		})
	}
}

func get(t *testing.T, client *http.Client, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestForeignClientCertificate shows a certificate that another cluster made.
func TestForeignClientCertificate(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	var configs [2]*rest.Config
	for i, dir := range dirs {
		start(t, sandbox.Config{DataDir: dir, HTTPS: "127.0.0.1:0", APIOnly: true})
		var err error
		if configs[i], err = clientcmd.BuildConfigFromFlags("", sandbox.KubeconfigPath(dir)); err != nil {
			t.Fatal(err)
		}
	}
	block, _ := pem.Decode(configs[0].CertData)
	if c, err := x509.ParseCertificate(block.Bytes); err != nil || c.Subject.Organization[0] != "system:masters" {
		t.Fatalf("certificate of the kubeconfig: %v, %v", c, err)
	}
	configs[0].CertData, configs[0].KeyData = configs[1].CertData, configs[1].KeyData
	if _, err := clientFor(t, configs[0]).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("list with a foreign certificate: %v", err)
	}
}

// TestOpenAddresses refuses to let everybody in from other machines.
func TestOpenAddresses(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0"} {
		if _, err := sandbox.Start(t.Context(), sandbox.Config{HTTP: address, APIOnly: true}); err == nil || !strings.Contains(err.Error(), "--http-auth required") {
			t.Errorf("--http %s: error %v, want one that names --http-auth required", address, err)
		}
	}
	start(t, sandbox.Config{HTTP: "0.0.0.0:0", HTTPAuth: sandbox.HTTPAuthRequired, APIOnly: true})
}

// TestLegacyToken has the controllers fill a Secret with a token, which the API
// server believes.
func TestLegacyToken(t *testing.T) {
	s := start(t, sandbox.Config{HTTP: "127.0.0.1:0"})
	ctx := t.Context()
	admin := clientFor(t, s.RESTConfig())
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "t", Annotations: map[string]string{corev1.ServiceAccountNameKey: "robot"}}, Type: corev1.SecretTypeServiceAccountToken,
	}
	if _, err := admin.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var err error
	for deadline := time.Now().Add(30 * time.Second); len(secret.Data[corev1.ServiceAccountTokenKey]) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nobody filled in the token")
		}
		time.Sleep(10 * time.Millisecond)
		if secret, err = admin.CoreV1().Secrets("default").Get(ctx, "t", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	robot := clientFor(t, &rest.Config{Host: s.URL(), BearerToken: string(secret.Data[corev1.ServiceAccountTokenKey])})
	me, err := robot.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || me.Status.UserInfo.Username != "system:serviceaccount:default:robot" {
		t.Errorf("I am %+v, %v", me, err)
	}
}
