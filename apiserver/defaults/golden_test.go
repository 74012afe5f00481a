package defaults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/strategy"
)

// recordings are creates of other people's manifests on a real server, with its
// whole answers. They are no part of the repository.
const recordings = "../../../shared/golden/open/manifests-builtin.json"

type recording struct {
	ID    string
	Steps []struct {
		Body any
		Want struct {
			Code int
			Body map[string]any
		}
	}
}

// TestRecordedDefaults compares what defaults and strategy make of a manifest
// with what the real server made of it. Fields are left out that admission
// plugins and allocators fill.
func TestRecordedDefaults(t *testing.T) {
	data, err := os.ReadFile(recordings)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no recordings here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []recording
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	alike, compared := 0, 0
	for _, r := range all {
		want := r.Steps[0].Want
		obj := decode(r.Steps[0].Body)
		if want.Code != 201 || obj == nil || isElsewhere(obj) {
			continue
		}
		compared++
		got := complete(t, obj)
		dropAdmitted(want.Body)
		if difference := compare("", want.Body, got); difference != "" {
			t.Logf("%s (%s): %s", r.ID, want.Body["kind"], difference)
			continue
		}
		alike++
	}
	share := 100 * float64(alike) / float64(max(compared, 1))
	t.Logf("%d of %d alike, %.1f %%", alike, compared, share)
	if alike < compared {
		t.Errorf("%.1f %% alike, want all", share)
	}
}

// decode gives nil for kinds that client-go does not know.
func decode(body any) runtime.Object {
	var text []byte
	if s, ok := body.(string); ok {
		text = []byte(s)
	} else {
		text, _ = json.Marshal(body)
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil
	}
	return obj
}

// complete does what the server does to a new object, but for admission.
func complete(t *testing.T, obj runtime.Object) map[string]any {
	t.Helper()
	m := obj.(metav1.Object)
	m.SetUID("6f0e4a6b-8d2c-4f70-9a53-0c1d2e3f4a5b")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	if m.GetName() == "" {
		m.SetName(m.GetGenerateName() + "x7k2p")
	}
	if status := reflect.ValueOf(obj).Elem().FieldByName("Status"); status.IsValid() && !isNode(obj) {
		fill(obj)
		status.SetZero()
	} else {
		fill(obj)
	}
	prepare(obj)
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// isElsewhere: reviews are answered, not stored, and autoscaling/v1 is a view on
// autoscaling/v2.
func isElsewhere(obj runtime.Object) bool {
	switch obj.(type) {
	case *authenticationv1.SelfSubjectReview, *authorizationv1.SelfSubjectAccessReview, *autoscalingv1.HorizontalPodAutoscaler:
		return true
	}
	return false
}

func isNode(obj runtime.Object) bool {
	_, ok := obj.(*corev1.Node)
	return ok
}

func fill(obj runtime.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		defaults.Pod(o)
	case *corev1.PodTemplate:
		defaults.PodTemplate(o)
	case *corev1.Service:
		defaults.Service(o)
	case *corev1.Namespace:
		defaults.Namespace(o)
	case *corev1.Node:
		defaults.Node(o)
	case *corev1.Secret:
		defaults.Secret(o)
	case *corev1.ReplicationController:
		defaults.ReplicationController(o)
	case *corev1.Endpoints:
		defaults.Endpoints(o)
	case *corev1.ResourceQuota:
		defaults.ResourceQuota(o)
	case *corev1.LimitRange:
		defaults.LimitRange(o)
	case *corev1.PersistentVolume:
		defaults.PersistentVolume(o)
	case *corev1.PersistentVolumeClaim:
		defaults.PersistentVolumeClaim(o)
	case *appsv1.Deployment:
		defaults.Deployment(o)
	case *appsv1.ReplicaSet:
		defaults.ReplicaSet(o)
	case *appsv1.DaemonSet:
		defaults.DaemonSet(o)
	case *appsv1.StatefulSet:
		defaults.StatefulSet(o)
	case *batchv1.Job:
		defaults.Job(o)
	case *batchv1.CronJob:
		defaults.CronJob(o)
	case *autoscalingv1.HorizontalPodAutoscaler:
		defaults.HorizontalPodAutoscalerV1(o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		defaults.HorizontalPodAutoscaler(o)
	case *networkingv1.NetworkPolicy:
		defaults.NetworkPolicy(o)
	case *networkingv1.IngressClass:
		defaults.IngressClass(o)
	case *discoveryv1.EndpointSlice:
		defaults.EndpointSlice(o)
	case *storagev1.StorageClass:
		defaults.StorageClass(o)
	case *storagev1.CSIDriver:
		defaults.CSIDriver(o)
	case *rbacv1.RoleBinding:
		defaults.RoleBinding(o)
	case *rbacv1.ClusterRoleBinding:
		defaults.ClusterRoleBinding(o)
	case *schedulingv1.PriorityClass:
		defaults.PriorityClass(o)
	case *nodev1.RuntimeClass:
		defaults.RuntimeClass(o)
	case *flowcontrolv1.FlowSchema:
		defaults.FlowSchema(o)
	case *flowcontrolv1.PriorityLevelConfiguration:
		defaults.PriorityLevelConfiguration(o)
	case *admissionv1.ValidatingWebhookConfiguration:
		defaults.ValidatingWebhookConfiguration(o)
	case *admissionv1.MutatingWebhookConfiguration:
		defaults.MutatingWebhookConfiguration(o)
	case *admissionv1.ValidatingAdmissionPolicy:
		defaults.ValidatingAdmissionPolicy(o)
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		defaults.ValidatingAdmissionPolicyBinding(o)
	case *resourcev1.ResourceClaim:
		defaults.ResourceClaim(o)
	case *resourcev1.ResourceClaimTemplate:
		defaults.ResourceClaimTemplate(o)
	}
}

func prepare(obj runtime.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		strategy.Pod(o, nil)
	case *corev1.Service:
		strategy.Service(o, nil)
	case *corev1.Namespace:
		strategy.Namespace(o, nil)
	case *corev1.Node:
		strategy.Node(o, nil)
	case *corev1.Secret:
		strategy.Secret(o, nil)
	case *corev1.ServiceAccount:
		strategy.ServiceAccount(o, nil)
	case *corev1.PersistentVolume:
		strategy.PersistentVolume(o, nil, metav1.Unix(1700000000, 0))
	case *corev1.PersistentVolumeClaim:
		strategy.PersistentVolumeClaim(o, nil)
	case *corev1.ReplicationController:
		strategy.ReplicationController(o, nil)
	case *rbacv1.Role:
		strategy.Role(o, nil)
	case *rbacv1.ClusterRole:
		strategy.ClusterRole(o, nil)
	case *discoveryv1.EndpointSlice:
		strategy.EndpointSlice(o, nil)
	case *appsv1.Deployment:
		strategy.Deployment(o, nil)
	case *appsv1.DaemonSet:
		strategy.DaemonSet(o, nil)
	case *batchv1.Job:
		strategy.Job(o, nil)
	}
}

// dropAdmitted removes what is neither default nor strategy.
func dropAdmitted(want map[string]any) {
	metadata := want["metadata"].(map[string]any)
	for _, key := range []string{"creationTimestamp", "uid", "generation", "namespace", "finalizers", "resourceVersion"} {
		delete(metadata, key)
	}
	spec, _ := want["spec"].(map[string]any)
	switch want["kind"] {
	case "Pod":
		delete(spec, "priority")
		delete(spec, "preemptionPolicy")
		delete(spec, "tolerations")
	case "Node":
		delete(spec, "taints")
	}
}

// compare returns where got first differs, "" if nowhere. What was allocated or
// differs from run to run is masked in want.
func compare(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: want an object, got %v", path, got)
		}
		for key := range w {
			if d := compare(path+"."+key, w[key], g[key]); d != "" {
				return d
			}
		}
		for key := range g {
			if _, ok := w[key]; !ok && !isLeftOut(path+"."+key) {
				return fmt.Sprintf("%s.%s: want none, got %v", path, key, g[key])
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(w) != len(g) {
			return fmt.Sprintf("%s: want %v, got %v", path, want, got)
		}
		for i := range w {
			if d := compare(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		if g, ok := got.(string); w == "*" || (ok && matches(w, g)) {
			return ""
		}
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s: want %v, got %v", path, want, got)
}

// isLeftOut names what dropAdmitted removed.
func isLeftOut(path string) bool {
	switch path {
	case ".metadata.creationTimestamp", ".metadata.uid", ".metadata.generation", ".metadata.namespace",
		".metadata.finalizers", ".metadata.managedFields", ".metadata.resourceVersion", ".metadata.selfLink",
		".spec.priority", ".spec.preemptionPolicy", ".spec.tolerations", ".spec.taints":
		return true
	}
	return false
}

var masked = regexp.MustCompile(`\\\*[a-z0-9]*\\\*`)

func matches(want, got string) bool {
	if want == got {
		return true
	}
	if !strings.Contains(want, "*") {
		return false
	}
	pattern := masked.ReplaceAllString(regexp.QuoteMeta(want), ".*")
	return regexp.MustCompile("(?s)^" + pattern + "$").MatchString(got)
}
