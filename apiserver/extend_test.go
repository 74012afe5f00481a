package apiserver_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// reviewer is a webhook server. It notes what it is asked.
type reviewer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newReviewer(t *testing.T, answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) *reviewer {
	t.Helper()
	r := &reviewer{}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		r.asked = append(r.asked, fmt.Sprintf("%s %s %s by %s", review.Request.Operation, review.Request.Resource.Resource, review.Request.Name, review.Request.UserInfo.Username))
		r.mu.Unlock()
		response := answer(review.Request)
		response.UID = review.Request.UID
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *reviewer) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.asked...)
}

func (r *reviewer) config() admissionregistrationv1.WebhookClientConfig {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	return admissionregistrationv1.WebhookClientConfig{URL: ptr.To(r.URL + "/review"), CABundle: ca}
}

// ruleFor is a rule for writes to one resource of the core group.
func ruleFor(resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
	}}
}

func typedClient(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: startServer(t), QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// settle returns when what was written before counts for admission, which reads
// the cache: a consistent read waits for it.
func settle(t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func TestMutatingWebhook(t *testing.T) {
	client := typedClient(t)
	r := newReviewer(t, func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{
			Allowed: true, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch), Warnings: []string{"changed it"},
			Patch: []byte(`[{"op": "add", "path": "/data/seen", "value": "` + string(request.Operation) + `"}]`),
		}
	})
	webhook := admissionregistrationv1.MutatingWebhook{
		Name: "mark.example.com", ClientConfig: r.config(), Rules: ruleFor("configmaps", "CREATE", "UPDATE"),
		SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ObjectSelector:  &metav1.LabelSelector{MatchLabels: map[string]string{"mark": "yes"}},
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "not-left-out", Expression: `!object.metadata.name.startsWith("left-out")`}},
	}
	register := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "mark"}, Webhooks: []admissionregistrationv1.MutatingWebhook{webhook},
	}
	if _, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), register, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	for _, test := range []struct {
		name, label, want string
	}{
		{"marked", "yes", "CREATE"}, {"plain", "no", ""}, {"left-out", "yes", ""},
	} {
		c := configMap(test.name, map[string]string{"k": "v"})
		c.Labels = map[string]string{"mark": test.label}
		created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), c, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := created.Data["seen"]; got != test.want {
			t.Errorf("%s: seen %q, want %q", test.name, got, test.want)
		}
	}
	updated, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), "marked", "application/merge-patch+json", []byte(`{"data": {"k": "w"}}`), metav1.PatchOptions{DryRun: []string{"All"}})
	if err != nil || updated.Data["seen"] != "UPDATE" {
		t.Errorf("dry-run update: %v, %v", updated, err)
	}
	if got := strings.Join(r.requests(), "\n"); got != "CREATE configmaps marked by kubesim:local\nUPDATE configmaps marked by kubesim:local" {
		t.Errorf("asked:\n%s", got)
	}
}

func TestValidatingWebhook(t *testing.T) {
	client := typedClient(t)
	r := newReviewer(t, func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{
			Allowed: request.Name != "bad", Result: &metav1.Status{Message: "no bad ones", Code: http.StatusConflict, Reason: metav1.StatusReasonConflict},
		}
	})
	dead := newReviewer(t, nil)
	deadConfig := dead.config()
	dead.Close()
	webhook := func(name string, config admissionregistrationv1.WebhookClientConfig, resource string, policy admissionregistrationv1.FailurePolicyType) admissionregistrationv1.ValidatingWebhook {
		return admissionregistrationv1.ValidatingWebhook{
			Name: name, ClientConfig: config, Rules: ruleFor(resource, "CREATE", "DELETE"), FailurePolicy: &policy,
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}
	}
	judge := webhook("judge.example.com", r.config(), "configmaps", admissionregistrationv1.Fail)
	gone := webhook("gone.example.com", deadConfig, "secrets", admissionregistrationv1.Fail)
	ignored := webhook("ignored.example.com", deadConfig, "configmaps", admissionregistrationv1.Ignore)
	register := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "judge"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{ignored, judge, gone},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), register, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("good", nil), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("bad", nil), metav1.CreateOptions{})
	if want := `admission webhook "judge.example.com" denied the request: no bad ones`; !apierrors.IsConflict(err) || err.Error() != want {
		t.Errorf("create: %v\nwant: %s", err, want)
	}
	_, err = client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
	if want := `Internal error occurred: failed calling webhook "gone.example.com": failed to call webhook: Post "`; !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("create: %v\nwant: %s…", err, want)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "good", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	// Whoever has locked himself out can still mend it.
	if err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "judge", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	settle(t, client)
	if _, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("create without webhooks: %v", err)
	}
}

// TestReinvocation has a second webhook change what the first one looks at.
func TestReinvocation(t *testing.T) {
	client := typedClient(t)
	patch := func(value string) func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			return &admissionv1.AdmissionResponse{Allowed: true, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch), Patch: []byte(value)}
		}
	}
	first := newReviewer(t, patch(`[{"op": "add", "path": "/data/first", "value": "x"}]`))
	second := newReviewer(t, patch(`[{"op": "add", "path": "/data/second", "value": "x"}]`))
	webhook := func(name string, r *reviewer) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{
			Name: name, ClientConfig: r.config(), Rules: ruleFor("configmaps", "*"), AdmissionReviewVersions: []string{"v1"},
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), ReinvocationPolicy: ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy),
		}
	}
	register := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "two"}, Webhooks: []admissionregistrationv1.MutatingWebhook{webhook("first.example.com", first), webhook("second.example.com", second)},
	}
	if _, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), register, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("c", map[string]string{"k": "v"}), metav1.CreateOptions{})
	if err != nil || created.Data["first"] != "x" || created.Data["second"] != "x" {
		t.Fatalf("created %v, %v", created, err)
	}
	if a, b := len(first.requests()), len(second.requests()); a != 2 || b != 1 {
		t.Errorf("the first was asked %d times, the second %d, want 2 and 1", a, b)
	}
}

func TestValidatingPolicy(t *testing.T) {
	client := typedClient(t)
	ctx := t.Context()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "few-keys"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			ParamKind:        &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: ruleFor("secrets", "CREATE")[0]}}},
			Variables:        []admissionregistrationv1.Variable{{Name: "keys", Expression: "has(object.data) ? size(object.data) : 0"}},
			Validations: []admissionregistrationv1.Validation{
				{Expression: "variables.keys <= int(params.data.most)", MessageExpression: `"too many keys: " + string(variables.keys)`},
				{Expression: `authorizer.group("").resource("secrets").namespace("default").check("get").allowed()`, Message: "must be able to read it", Reason: ptr.To(metav1.StatusReasonForbidden)},
			},
		},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap("limit", map[string]string{"most": "1"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "here"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "few-keys", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			ParamRef: &admissionregistrationv1.ParamRef{Name: "limit", Namespace: "default", ParameterNotFoundAction: ptr.To(admissionregistrationv1.DenyAction)},
		},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	create := func(name string, keys ...string) error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{}}
		for _, key := range keys {
			s.Data[key] = nil
		}
		_, err := client.CoreV1().Secrets("default").Create(ctx, s, metav1.CreateOptions{})
		return err
	}
	if err := create("one", "a"); err != nil {
		t.Error(err)
	}
	err := create("two", "a", "b")
	want := `secrets "two" is forbidden: ValidatingAdmissionPolicy 'few-keys' with binding 'here' denied request: too many keys: 2`
	if !apierrors.IsInvalid(err) || err.Error() != want {
		t.Errorf("create: %v\nwant: %s", err, want)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(ctx, "limit", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	want = "denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
	if err := create("three"); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("create: %v\nwant: …%s", err, want)
	}
}

func TestMutatingPolicy(t *testing.T) {
	client := typedClient(t)
	ctx := t.Context()
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "sidecar"},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: ruleFor("pods", "CREATE")[0]}}},
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{
				{PatchType: admissionregistrationv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{
					Expression: `Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "mesh", image: "mesh:1", restartPolicy: "Always"}]}}`,
				}},
				{PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{
					Expression: `[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mesh": string(size(object.spec.initContainers))}}]`,
				}},
			},
		},
	}
	if _, err := client.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "sidecar"},
	}
	if _, err := client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
	created, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := created.Spec.InitContainers; len(c) != 1 || c[0].Name != "mesh" || c[0].TerminationMessagePath == "" {
		t.Errorf("init containers %+v, want one with defaults", c)
	}
	if created.Annotations["mesh"] != "1" || len(created.Spec.Containers) != 1 {
		t.Errorf("pod %+v", created)
	}
}

// TestWebhookNames has a webhook give names and uids: those that it sees are not
// made yet, and where it stores is where the object says.
func TestWebhookNames(t *testing.T) {
	client := typedClient(t)
	r := newReviewer(t, func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		patch := `[{"op": "add", "path": "/metadata/uid", "value": "x"}, {"op": "replace", "path": "/metadata/name", "value": "renamed"}]`
		if request.Name == "" {
			patch = `[{"op": "add", "path": "/metadata/uid", "value": "x"}]`
		}
		return &admissionv1.AdmissionResponse{Allowed: true, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch), Patch: []byte(patch)}
	})
	register := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "names"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "names.example.com", ClientConfig: r.config(), Rules: ruleFor("configmaps", "CREATE"),
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	if _, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), register, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle(t, client)
	maps := client.CoreV1().ConfigMaps("default")
	created, err := maps.Create(t.Context(), configMap("first", nil), metav1.CreateOptions{})
	if err != nil || created.Name != "renamed" || created.UID == "x" {
		t.Fatalf("created %v, %v", created, err)
	}
	if got, err := maps.Get(t.Context(), "renamed", metav1.GetOptions{}); err != nil || got.UID != created.UID {
		t.Errorf("get: %v, %v", got, err)
	}
	if _, err := maps.Create(t.Context(), configMap("second", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second one of the name: %v", err)
	}
	generated := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "gen-"}}
	if created, err = maps.Create(t.Context(), generated, metav1.CreateOptions{}); err != nil || len(created.Name) != len("gen-")+5 || created.UID == "x" {
		t.Errorf("generated %v, %v", created, err)
	}
}

// TestCopyBomb has a patch double a document again and again.
func TestCopyBomb(t *testing.T) {
	client := typedClient(t)
	maps := client.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), configMap("c", map[string]string{"k": "v"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bomb := `[{"op": "add", "path": "/data", "value": {"a": "` + strings.Repeat("x", 10000) + `"}}`
	for i := range 30 {
		bomb += fmt.Sprintf(`, {"op": "copy", "from": "/data", "path": "/data/k%d"}`, i)
	}
	if _, err := maps.Patch(t.Context(), "c", "application/json-patch+json", []byte(bomb+"]"), metav1.PatchOptions{}); err == nil {
		t.Error("the bomb went off")
	}
}
