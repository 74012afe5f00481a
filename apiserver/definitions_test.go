package apiserver_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// extension works with definitions and custom resources of a server.
type extension struct {
	t *testing.T
	dynamic.Interface
	url string
}

func newExtension(t *testing.T) extension {
	t.Helper()
	url := startServer(t)
	client, err := dynamic.NewForConfig(&rest.Config{Host: url, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return extension{t, client, url}
}

func (x extension) definitions() dynamic.ResourceInterface {
	return x.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
}

func (x extension) widgets(version string) dynamic.ResourceInterface {
	return x.Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "widgets"}).Namespace("default")
}

// widgetDefinition is that of testdata/widgets.yaml, as change leaves it.
func widgetDefinition(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	change(crd)
	return crd
}

func asIs(*apiextensionsv1.CustomResourceDefinition) {}

// define creates a definition and waits until a condition of it is as said.
func (x extension) define(crd *apiextensionsv1.CustomResourceDefinition, condition, status string) {
	x.t.Helper()
	text, err := json.Marshal(crd)
	if err != nil {
		x.t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		x.t.Fatal(err)
	}
	if _, err := x.definitions().Create(x.t.Context(), u, metav1.CreateOptions{}); err != nil {
		x.t.Fatal(err)
	}
	x.await(crd.Name, condition, status)
}

// await watches a definition until a condition has a status, and returns its reason.
func (x extension) await(name, condition, status string) string {
	x.t.Helper()
	seconds := int64(20)
	w, err := x.definitions().Watch(x.t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name, TimeoutSeconds: &seconds})
	if err != nil {
		x.t.Fatal(err)
	}
	defer w.Stop()
	var last any
	for ev := range w.ResultChan() {
		conditions, _, _ := unstructured.NestedSlice(ev.Object.(*unstructured.Unstructured).Object, "status", "conditions")
		for _, c := range conditions {
			if c := c.(map[string]any); c["type"] == condition && c["status"] == status {
				return c["reason"].(string)
			}
		}
		last = conditions
	}
	x.t.Fatalf("condition %s of %s does not become %s: %v", condition, name, status, last)
	return ""
}

func widget(version, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

func (x extension) create(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return x.widgets(u.GroupVersionKind().Version).Create(x.t.Context(), u, metav1.CreateOptions{})
}

func (x extension) mustCreate(u *unstructured.Unstructured) *unstructured.Unstructured {
	x.t.Helper()
	out, err := x.create(u)
	if err != nil {
		x.t.Fatal(err)
	}
	return out
}

// wantError fails unless an error is as said.
func wantError(t *testing.T, err error, is func(error) bool, text string) {
	t.Helper()
	if !is(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v, want one with %q", err, text)
	}
}

func TestSelectableFields(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	x.mustCreate(widget("v1", "b", map[string]any{"size": int64(1), "color": "blue"}))
	list, err := x.widgets("v1").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=red"}) // by default
	if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "a" {
		t.Errorf("red are %v, %v", list, err)
	}
	_, err = x.widgets("v1beta1").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=red"})
	wantError(t, err, apierrors.IsBadRequest, "field label not supported: spec.color")
}

func TestScaleOfCustomResource(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	_, err := x.widgets("v1").Get(t.Context(), "a", metav1.GetOptions{}, "scale")
	wantError(t, err, apierrors.IsInternalError, `the spec replicas field ".spec.replicas" does not exist`)
	scaled, err := x.widgets("v1").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}, "scale")
	if err != nil || scaled.GetKind() != "Scale" {
		t.Fatalf("scaling answers %v, %v", scaled, err)
	}
	a, err := x.widgets("v1").Get(t.Context(), "a", metav1.GetOptions{})
	if n, _, _ := unstructured.NestedInt64(a.Object, "spec", "replicas"); err != nil || n != 3 || a.GetGeneration() != 2 {
		t.Errorf("the object is %v, %v", a, err)
	}
}

// A write to the status changes nothing else, not even labels.
func TestStatusOfCustomResource(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	patch := []byte(`{"metadata":{"labels":{"x":"y"}},"spec":{"size":2},"status":{"replicas":5}}`)
	a, err := x.widgets("v1").Patch(t.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	size, _, _ := unstructured.NestedInt64(a.Object, "spec", "size")
	replicas, _, _ := unstructured.NestedInt64(a.Object, "status", "replicas")
	if len(a.GetLabels()) != 0 || size != 1 || replicas != 5 || a.GetGeneration() != 1 {
		t.Errorf("the object is %v", a)
	}
}

// What was wrong before may stay when a definition grows stricter, and is refused when it changes.
func TestRatcheting(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(7)}))
	path := "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"
	patch := fmt.Appendf(nil, `[{"op":"add","path":%q,"value":5}]`, path)
	if _, err := x.definitions().Patch(t.Context(), "widgets.example.com", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := x.create(widget("v1", "b", map[string]any{"size": int64(7)}))
	wantError(t, err, apierrors.IsInvalid, "spec.size in body should be less than or equal to 5")
	if _, err := x.widgets("v1").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("a change elsewhere: %v", err)
	}
	_, err = x.widgets("v1").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"size":6}}`), metav1.PatchOptions{})
	wantError(t, err, apierrors.IsInvalid, "spec.size in body should be less than or equal to 5")
}

// A default that is added later shows in what was stored before, and is not stored.
func TestDefaultOfStored(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	before := x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	patch := []byte(`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/replicas/default","value":4}]`)
	if _, err := x.definitions().Patch(t.Context(), "widgets.example.com", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := x.widgets("v1").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(list.Items[0].Object, "spec", "replicas"); n != 4 {
		t.Errorf("the object is %v", list.Items[0].Object)
	}
	if list.Items[0].GetResourceVersion() != before.GetResourceVersion() {
		t.Error("the object was written")
	}
}

// A watch ends when the definition changes, since objects look different from then on.
func TestWatchEndsWithDefinition(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	w, err := x.widgets("v1").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	if ev := <-w.ResultChan(); ev.Type != "ADDED" {
		t.Fatalf("the first event is %v", ev)
	}
	patch := []byte(`[{"op":"replace","path":"/spec/versions/1/served","value":false}]`)
	if _, err := x.definitions().Patch(t.Context(), "widgets.example.com", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if ev, open := <-w.ResultChan(); open {
		t.Errorf("the watch goes on with %v", ev)
	}
	_, err = x.widgets("v1beta1").Get(t.Context(), "a", metav1.GetOptions{})
	wantError(t, err, apierrors.IsNotFound, "could not find the requested resource")
}

// Two definitions of a group want the same kind: the second gets it when the first goes.
func TestNamesConflict(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.define(widgetDefinition(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Name = "gadgets.example.com"
		crd.Spec.Names.Plural, crd.Spec.Names.Singular, crd.Spec.Names.ShortNames = "gadgets", "gadget", []string{"gd"}
	}), "NamesAccepted", "False")
	if reason := x.await("gadgets.example.com", "Established", "False"); reason != "NotAccepted" {
		t.Errorf("Established is false for %s", reason)
	}
	if err := x.definitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	x.await("gadgets.example.com", "Established", "True")
}

// A definition stays until the last of its objects has gone.
func TestDefinitionTerminates(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	held := widget("v1", "held", map[string]any{"size": int64(1)})
	held.SetFinalizers([]string{"example.com/held"})
	x.mustCreate(held)
	x.mustCreate(widget("v1", "free", map[string]any{"size": int64(1)}))
	if err := x.definitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	x.await("widgets.example.com", "Terminating", "True")
	_, err := x.create(widget("v1", "late", map[string]any{"size": int64(1)}))
	wantError(t, err, apierrors.IsForbidden, "create not allowed while custom resource definition is terminating")
	if verbs := x.verbs(); slices.Contains(verbs, "create") {
		t.Errorf("discovery still tells of %v", verbs)
	}
	seconds := int64(20)
	w, err := x.definitions().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=widgets.example.com", TimeoutSeconds: &seconds})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := x.widgets("v1").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for ev := range w.ResultChan() {
		if ev.Type == "DELETED" {
			_, err = x.widgets("v1").List(t.Context(), metav1.ListOptions{})
			wantError(t, err, apierrors.IsNotFound, "could not find the requested resource")
			return
		}
	}
	t.Error("the definition stays")
}

// verbs are those of widgets that discovery tells of.
func (x extension) verbs() []string {
	x.t.Helper()
	resources, err := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: x.url}).ServerResourcesForGroupVersion("example.com/v1")
	if err != nil {
		x.t.Fatal(err)
	}
	return resources.APIResources[0].Verbs
}

// Server-side apply merges lists by their keys, and fields stay owned in the version
// in which they were set when the object is written in another.
func TestApplyCustomResource(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	apply := func(version, manager, port string, size int64) error {
		w := widget(version, "a", map[string]any{"size": size, "ports": []any{map[string]any{"name": port, "port": int64(80)}}})
		_, err := x.widgets(version).Apply(t.Context(), "a", w, metav1.ApplyOptions{FieldManager: manager})
		return err
	}
	if err := apply("v1", "one", "http", 3); err != nil {
		t.Fatal(err)
	}
	if err := apply("v1", "two", "https", 3); err != nil {
		t.Fatal(err)
	}
	wantError(t, apply("v1", "two", "https", 4), apierrors.IsConflict, `Apply failed with 1 conflict: conflict with "one": .spec.size`)
	a, err := x.widgets("v1beta1").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{FieldManager: "three"})
	if err != nil {
		t.Fatal(err)
	}
	var managers []string
	for _, m := range a.GetManagedFields() {
		managers = append(managers, m.Manager+" "+m.APIVersion)
	}
	if want := []string{"one example.com/v1", "two example.com/v1", "three example.com/v1beta1"}; !slices.Equal(managers, want) {
		t.Errorf("managers are %q", managers)
	}
	if ports, _, _ := unstructured.NestedSlice(a.Object, "spec", "ports"); len(ports) != 2 {
		t.Errorf("ports are %v", ports)
	}
}

// A version with another form is led to by a webhook, in both directions.
func TestConversionWebhook(t *testing.T) {
	x := newExtension(t)
	hook := httptest.NewTLSServer(http.HandlerFunc(convertWidgets))
	defer hook.Close()
	x.define(widgetDefinition(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		url := hook.URL + "/convert"
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: certificateOf(hook)},
				ConversionReviewVersions: []string{"v1"},
			},
		}
	}), "Established", "True")
	old := x.mustCreate(widget("v1beta1", "a", map[string]any{"millimetres": int64(3)}))
	if n, _, _ := unstructured.NestedInt64(old.Object, "spec", "millimetres"); n != 3 || old.GetAPIVersion() != "example.com/v1beta1" {
		t.Errorf("the answer is %v", old.Object)
	}
	now, err := x.widgets("v1").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(now.Object, "spec", "size"); n != 3 {
		t.Errorf("v1 is %v", now.Object)
	}
	list, err := x.widgets("v1beta1").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetAPIVersion() != "example.com/v1beta1" {
		t.Errorf("the list is %v, %v", list, err)
	}
	_, err = x.widgets("v1beta1").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"millimetres":-1}}`), metav1.PatchOptions{})
	wantError(t, err, func(error) bool { return true }, "conversion webhook for example.com/v1beta1, Kind=Widget failed: less than nothing")
}

// convertWidgets calls the size millimetres in v1beta1.
func convertWidgets(w http.ResponseWriter, r *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, review)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		text := raw.Raw
		if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v1") {
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("v1beta1"), []byte("v1")), []byte("millimetres"), []byte("size"))
		} else {
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("example.com/v1"), []byte("example.com/v1beta1")), []byte("size"), []byte("millimetres"))
		}
		if bytes.Contains(text, []byte(":-1")) {
			review.Response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "less than nothing"}
		}
		raw.Raw = text
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, raw)
	}
	_ = json.NewEncoder(w).Encode(review)
}

func certificateOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// Clients that like protobuf best, such as controllers, get JSON of custom resources.
func TestCustomResourceInProtobuf(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	client, err := metadata.NewForConfig(&rest.Config{Host: x.url, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default")
	list, err := widgets.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "a" {
		t.Errorf("the list is %v, %v", list, err)
	}
	if err := widgets.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	_, err = widgets.Get(t.Context(), "a", metav1.GetOptions{})
	wantError(t, err, apierrors.IsNotFound, `widgets.example.com "a" not found`)
}

// Objects are stored in the version that the definition says now, from their next write on.
func TestStorageVersion(t *testing.T) {
	x := newExtension(t)
	x.define(widgetDefinition(t, asIs), "Established", "True")
	x.mustCreate(widget("v1", "a", map[string]any{"size": int64(1)}))
	patch := []byte(`[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"replace","path":"/spec/versions/1/storage","value":true}]`)
	crd, err := x.definitions().Patch(t.Context(), "widgets.example.com", types.JSONPatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions"); !slices.Equal(stored, []string{"v1", "v1beta1"}) {
		t.Errorf("stored versions are %v", stored)
	}
	before, err := x.widgets("v1").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// A write that changes nothing but the stored version is a write.
	after, err := x.widgets("v1").Update(t.Context(), before, metav1.UpdateOptions{})
	if err != nil || after.GetResourceVersion() == before.GetResourceVersion() || after.GetAPIVersion() != "example.com/v1" {
		t.Errorf("the object is %v, %v", after, err)
	}
	again, err := x.widgets("v1").Update(t.Context(), after, metav1.UpdateOptions{})
	if err != nil || again.GetResourceVersion() != after.GetResourceVersion() {
		t.Errorf("the object is written again: %v, %v", again, err)
	}
}
