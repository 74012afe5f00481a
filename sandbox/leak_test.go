package sandbox_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubesim/kubesim/sandbox"
)

const (
	marked     = "marked-secret-3f9c1"  // in an object
	markedAuth = "marked-token-77d0e2"  // a bearer token
	markedPass = "marked-password-51ab" // a password
)

// lockedBuffer takes the logs of all parts.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// outsider is somebody whom no role gives anything of his own.
type outsider struct {
	name, token string
	mayPaths    []string // prefixes of paths that are open to him
	mayCreate   []string // resources
}

// TestNothingLeaks walks every route with every verb as people who may do nothing,
// by TLS and by the plain port, and looks for marked secrets in all that they are
// told and in all that the server writes down.
func TestNothingLeaks(t *testing.T) {
	dir, logs := t.TempDir(), &lockedBuffer{}
	tokens, passwords, auditLog := filepath.Join(dir, "tokens"), filepath.Join(dir, "passwords"), filepath.Join(dir, "audit")
	for file, line := range map[string]string{tokens: markedAuth + ",jane,1", passwords: markedPass + ",joe,2"} {
		if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	box := start(t, sandbox.Config{
		DataDir: filepath.Join(dir, "data"), HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", HTTPAuth: sandbox.HTTPAuthRequired, APIOnly: true,
		TokenFile: tokens, PasswordFile: passwords, AuditLog: auditLog, Logger: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	config, err := clientcmd.BuildConfigFromFlags("", sandbox.KubeconfigPath(filepath.Join(dir, "data")))
	if err != nil {
		t.Fatal(err)
	}
	admin := clientFor(t, config)
	robot := plant(t, admin)
	people := []outsider{
		{name: "anonymous", mayPaths: []string{"/healthz", "/livez", "/readyz", "/version"}},
		{name: "jane", token: markedAuth, mayPaths: openPaths(), mayCreate: selfReviews()},
		{name: "robot", token: robot, mayPaths: append(openPaths(), "/.well-known/openid-configuration", "/openid/"), mayCreate: selfReviews()},
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	routes, asked := routesOf(t, admin), 0
	for _, server := range []string{config.Host, box.URL()} {
		for _, who := range people {
			for _, r := range routes {
				for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
					check(t, client, server, who, method, r)
					asked++
				}
			}
		}
	}
	t.Logf("%d requests", asked)
	for header, want := range map[string]int{
		"Bearer " + markedAuth + "x":  http.StatusUnauthorized,
		basic("joe", markedPass):      http.StatusForbidden,
		basic("joe", markedPass+"x"):  http.StatusUnauthorized,
		basic(markedPass, "whatever"): http.StatusUnauthorized,
	} {
		if got := codeOf(t, client, box.URL()+"/api/v1/secrets", header); got != want {
			t.Errorf("%s: %d, want %d", header, got, want)
		}
	}
	spans, err := json.Marshal(box.Recorder().Spans())
	if err != nil {
		t.Fatal(err)
	}
	audited, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"logs": logs.String(), "spans": string(spans), "audit log": string(audited)} {
		if text == "" {
			t.Errorf("the %s are empty", where)
		}
		for _, secret := range []string{marked, "bWFya2VkLXNlY3JldC0zZjljMQ", markedAuth, markedPass, robot} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s have the secret %.20s", where, secret)
			}
		}
	}
}

// openPaths are what every user with a name may read.
func openPaths() []string {
	return []string{"/healthz", "/livez", "/readyz", "/version", "/openapi", "/api", "/apis"}
}

func selfReviews() []string {
	return []string{"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
}

// plant makes a marked Secret and a ServiceAccount, and returns a token of that.
func plant(t *testing.T, admin kubernetes.Interface) string {
	t.Helper()
	ctx := t.Context()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "x"}, StringData: map[string]string{"key": marked}}
	if _, err := admin.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wish, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return wish.Status.Token
}

// route is a path, and the resource that it leads to, if any.
type route struct{ path, resource string }

// routesOf are all routes: those of discovery, of collections and of objects, and
// what is beside them.
func routesOf(t *testing.T, admin kubernetes.Interface) []route {
	t.Helper()
	var out []route
	for _, path := range []string{
		"/", "/api", "/apis", "/version", "/healthz", "/livez", "/readyz", "/metrics", "/openapi/v2", "/openapi/v3", "/openid/v1/jwks",
		"/.well-known/openid-configuration", "/ui/", "/debug/kubesim/", "/debug/kubesim/spans", "/debug/kubesim/trace", "/debug/pprof/", "/logs", "/nothing",
	} {
		out = append(out, route{path: path})
	}
	_, lists, err := admin.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		base := "/apis/" + list.GroupVersion
		if list.GroupVersion == "v1" {
			base = "/api/v1"
		}
		for _, r := range list.APIResources {
			name, sub, _ := strings.Cut(r.Name, "/")
			where := base
			if r.Namespaced {
				where += "/namespaces/default"
			}
			object := route{strings.TrimSuffix(where+"/"+name+"/x/"+sub, "/"), r.Name}
			out = append(out, object)
			if sub == "" {
				out = append(out, route{where + "/" + name, r.Name}, route{where + "/" + name + "?watch=1&timeoutSeconds=1", r.Name}, route{base + "/" + name, r.Name})
			}
			if sub == "proxy" {
				out = append(out, route{object.path + "/inside", r.Name})
			}
		}
	}
	return out
}

// check sends one request, and sees to it that it is refused unless it is open.
func check(t *testing.T, client *http.Client, server string, who outsider, method string, r route) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server+r.path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if who.token != "" {
		request.Header.Set("Authorization", "Bearer "+who.token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	what := fmt.Sprintf("%s %s %s%s", who.name, method, server, r.path)
	if strings.Contains(string(body), marked) || strings.Contains(string(body), "bWFya2VkLXNlY3JldC0zZjljMQ") {
		t.Errorf("%s shows the secret", what)
	}
	if isOpen(who, method, r) {
		return
	}
	if response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s: %d %.100s", what, response.StatusCode, body)
	}
}

func isOpen(who outsider, method string, r route) bool {
	if r.resource != "" {
		return method == "POST" && slices.Contains(who.mayCreate, r.resource)
	}
	return method == "GET" && slices.ContainsFunc(who.mayPaths, func(prefix string) bool { return strings.HasPrefix(r.path, prefix) })
}

// TestWrongCredentials shows many kinds of tokens that are none.
func TestWrongCredentials(t *testing.T) {
	dir := t.TempDir()
	box := start(t, sandbox.Config{DataDir: dir, HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", APIOnly: true})
	config, err := clientcmd.BuildConfigFromFlags("", sandbox.KubeconfigPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	robot := plant(t, clientFor(t, config))
	parts := strings.Split(robot, ".")
	none := "eyJhbGciOiJub25lIn0" // {"alg":"none"}
	wrong := []string{
		"x", "..", "a.b.c", "abcdef.0123456789abcdef", none + "." + parts[1] + ".", none + "." + parts[1] + "." + parts[2],
		parts[0] + "." + parts[1], parts[0] + "." + parts[1] + ".", parts[0] + ".." + parts[2], robot + ".x", robot + "x", strings.ToUpper(robot),
		strings.Repeat("a", 64<<10),
	}
	for i := 0; i < len(robot)-1; i += 7 { // one bit of one character; the last may be padding
		b := []byte(robot)
		b[i] ^= 1
		wrong = append(wrong, string(b))
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(client.CloseIdleConnections)
	for _, server := range []string{config.Host, box.URL()} {
		for _, token := range wrong {
			if code := codeOf(t, client, server+"/api/v1/namespaces", "Bearer "+token); code != http.StatusUnauthorized {
				t.Errorf("%s, token %.40s: %d, want 401", server, token, code)
			}
		}
	}
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

// codeOf is the answer to a GET with an Authorization header.
func codeOf(t *testing.T, client *http.Client, url, header string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", header)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
