package apiserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
)

// moods is another API server, which tells how its callers are.
func moods(t *testing.T) (host string, port int32) {
	t.Helper()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/moods.example.com/v1":
			_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
				GroupVersion: "moods.example.com/v1",
				APIResources: []metav1.APIResource{
					{Name: "moods", SingularName: "mood", Kind: "Mood", Verbs: []string{"get", "list"}, ShortNames: []string{"md"}},
					{Name: "moods/status", Kind: "Mood", Verbs: []string{"get"}},
				},
			})
		case "/openapi/v3":
			fmt.Fprint(w, `{"paths":{"apis/moods.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/moods.example.com/v1?hash=1"}}}`)
		case "/apis/moods.example.com/v1/moods/mine":
			fmt.Fprintf(w, `{"user":%q,"authorization":%q,"query":%q}`, r.Header.Get("X-Remote-User"), r.Header.Get("Authorization"), r.URL.RawQuery)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	u, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return "localhost", int32(n)
}

// A group version is served by the server that an APIService names, and shows in discovery.
func TestAggregation(t *testing.T) {
	server := startServer(t)
	client := newClient(t, server)
	services, err := aggregator.NewForConfig(&rest.Config{Host: server, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	host, port := moods(t)
	_, err = services.ApiregistrationV1().APIServices().Create(t.Context(), &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.moods.example.com"},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: "moods.example.com", Version: "v1", GroupPriorityMinimum: 100, VersionPriority: 10, InsecureSkipTLSVerify: true,
			Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "moods", Port: &port},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitAvailable(t, services, apiregistrationv1.ConditionFalse, "ServiceNotFound")
	if code, body := fetch(t, server+"/apis/moods.example.com/v1/moods/mine"); code != http.StatusServiceUnavailable || body != "service unavailable\n" {
		t.Errorf("before, the answer is %d %s", code, body)
	}
	_, err = client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "moods"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitAvailable(t, services, apiregistrationv1.ConditionTrue, "Passed")
	if code, body := fetch(t, server+"/apis/moods.example.com/v1/moods/mine?a=b"); code != http.StatusOK || body != `{"user":"kubesim:local","authorization":"","query":"a=b"}` {
		t.Errorf("the answer is %d %s", code, body)
	}
	for _, legacy := range []bool{true, false} {
		d := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: server, QPS: -1})
		d.UseLegacyDiscovery = legacy
		groups, lists, err := d.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		if last := groups[len(groups)-1]; last.Name != "moods.example.com" {
			t.Errorf("the last group is %s", last.Name)
		}
		at := slices.IndexFunc(lists, func(l *metav1.APIResourceList) bool { return l.GroupVersion == "moods.example.com/v1" })
		if at < 0 || len(lists[at].APIResources) != 2 || lists[at].APIResources[0].ShortNames[0] != "md" {
			t.Errorf("the resources are %v", lists)
		}
	}
	if _, body := fetch(t, server+"/openapi/v3"); !json.Valid([]byte(body)) || !strings.Contains(body, "apis/moods.example.com/v1?hash=1") {
		t.Error("the index of OpenAPI lacks the document")
	}
	if err := services.ApiregistrationV1().APIServices().Delete(t.Context(), "v1.moods.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if code, _ := fetch(t, server+"/apis/moods.example.com/v1/moods/mine"); code != http.StatusNotFound {
		t.Errorf("in the end the answer is %d", code)
	}
}

func awaitAvailable(t *testing.T, services aggregator.Interface, status apiregistrationv1.ConditionStatus, reason string) {
	t.Helper()
	seconds := int64(20)
	w, err := services.ApiregistrationV1().APIServices().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=v1.moods.example.com", TimeoutSeconds: &seconds})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last any
	for ev := range w.ResultChan() {
		for _, c := range ev.Object.(*apiregistrationv1.APIService).Status.Conditions {
			if c.Status == status && c.Reason == reason {
				return
			}
			last = c
		}
	}
	t.Fatalf("Available does not become %s for %s: %v", status, reason, last)
}

func fetch(t *testing.T, url string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
