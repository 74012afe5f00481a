package apiserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/store"
)

// An object that the store has no room for with its managed fields is kept without
// them, unless it is applied.
func TestTooLargeForManagers(t *testing.T) {
	client := newClient(t, startServer(t)).CoreV1().ConfigMaps("default")
	large := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "large"}, Data: map[string]string{}}
	large.Data["rest"] = strings.Repeat("x", 1<<20) // all that a ConfigMap may hold
	for i := range (store.MaxValueSize - 1<<20) / 2 / 240 {
		large.Data[fmt.Sprintf("%0250d", i)] = ""
	}
	got, err := client.Create(t.Context(), large, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.ManagedFields != nil {
		t.Errorf("there was room for %d managers", len(got.ManagedFields))
	}
	apply := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"more":""}}`)
	if _, err := client.Patch(t.Context(), "large", types.ApplyPatchType, apply, metav1.PatchOptions{FieldManager: "a"}); err == nil || err.Error() != "etcdserver: request is too large" {
		t.Errorf("an apply without room for its managers: %v", err)
	}
	small := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	if _, err := client.Create(t.Context(), small, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	small.Data = large.Data
	if got, err = client.Update(t.Context(), small, metav1.UpdateOptions{}); err != nil || got.ManagedFields != nil {
		t.Errorf("an update: %d managers, %v", len(got.ManagedFields), err)
	}
}

// A write that changes nothing but the time of its manager is none.
func TestNoopKeepsTimes(t *testing.T) {
	client := newClient(t, startServer(t)).CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	pod, err := client.Create(t.Context(), pod, metav1.CreateOptions{FieldManager: "a"})
	if err != nil {
		t.Fatal(err)
	}
	past := metav1.NewTime(pod.ManagedFields[0].Time.Add(-time.Hour))
	pod.ManagedFields[0].Time = &past
	if pod, err = client.Update(t.Context(), pod, metav1.UpdateOptions{FieldManager: "b"}); err != nil {
		t.Fatal(err)
	}
	for _, manager := range []string{"a", "b"} {
		again, err := client.Update(t.Context(), pod, metav1.UpdateOptions{FieldManager: manager})
		if err != nil {
			t.Fatal(err)
		}
		if again.ResourceVersion != pod.ResourceVersion || len(again.ManagedFields) != 1 {
			t.Errorf("%s wrote what was there: %s became %s, %v", manager, pod.ResourceVersion, again.ResourceVersion, again.ManagedFields)
		}
	}
	config := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	opts := metav1.PatchOptions{FieldManager: "c"}
	if pod, err = client.Patch(t.Context(), "p", types.ApplyPatchType, config, opts); err != nil {
		t.Fatal(err)
	}
	again, err := client.Patch(t.Context(), "p", types.ApplyPatchType, config, opts)
	if err != nil || again.ResourceVersion != pod.ResourceVersion {
		t.Errorf("applied what was there: %s became %s, %v", pod.ResourceVersion, again.ResourceVersion, err)
	}
}

// Admission plugins, bindings and deletions own nothing; a review shows who asks.
func TestUntracked(t *testing.T) {
	client := newClient(t, startServer(t))
	pods := client.CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Finalizers: []string{"example.com/x"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	pod, err := pods.Create(t.Context(), pod, metav1.CreateOptions{FieldManager: "a"})
	if err != nil {
		t.Fatal(err)
	}
	before := pod.ManagedFields[0].FieldsV1.GetRawString()
	for _, added := range []string{"tolerations", "priority"} { // by admission
		if strings.Contains(before, added) {
			t.Errorf("the client owns %s: %s", added, before)
		}
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	if err := pods.Bind(t.Context(), binding, metav1.CreateOptions{FieldManager: "b"}); err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if pod, err = pods.Get(t.Context(), "p", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if pod.Spec.NodeName != "n" || pod.DeletionTimestamp == nil || len(pod.ManagedFields) != 1 || pod.ManagedFields[0].FieldsV1.GetRawString() != before {
		t.Errorf("after binding and deletion: %v", pod.ManagedFields)
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"},
	}}
	review, err = client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{FieldManager: "me"})
	if err != nil || len(review.ManagedFields) != 1 || review.ManagedFields[0].Manager != "me" {
		t.Errorf("a review: %v, %v", review.ManagedFields, err)
	}
}

// Who may patch but not create gets nothing created by an apply.
func TestApplyNeedsCreate(t *testing.T) {
	url := startServer(t)
	admin := newClient(t, url)
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"patch"}}}
	if _, err := admin.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "patcher"}, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "patcher"}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "pat"}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "patcher"},
	}
	if _, err := admin.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pat, err := kubernetes.NewForConfig(&rest.Config{Host: url, QPS: -1, Impersonate: rest.ImpersonationConfig{UserName: "pat"}})
	if err != nil {
		t.Fatal(err)
	}
	apply := func(client kubernetes.Interface, data string) error {
		config := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{%s}}`, data)
		_, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), "c", types.ApplyPatchType, []byte(config), metav1.PatchOptions{FieldManager: "m"})
		return err
	}
	const refusal = `configmaps "c" is forbidden: User "pat" cannot create resource "configmaps" in API group "" in the namespace "default"`
	if err := apply(pat, ""); !apierrors.IsForbidden(err) || err.Error() != refusal {
		t.Errorf("created without leave: %v", err)
	}
	if err := apply(admin, ""); err != nil {
		t.Fatal(err)
	}
	if err := apply(pat, `"a":"1"`); err != nil {
		t.Errorf("may patch what is there: %v", err)
	}
}
