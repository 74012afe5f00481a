package children

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var replicaSet = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

func newOwner(deleted bool) Owner {
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set"}}
	if deleted {
		set.DeletionTimestamp = &metav1.Time{}
	}
	return Owner{Object: set, Kind: replicaSet, Selector: labels.SelectorFromSet(labels.Set{"app": "web"})}
}

func pod(name, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}}}
}

func leaving(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = &metav1.Time{}
	return pod
}

func podNames(pods []*corev1.Pod) string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestSort(t *testing.T) {
	owned := []*corev1.Pod{pod("mine", "web"), pod("relabelled", "other"), leaving(pod("ending", "web"))}
	orphans := []*corev1.Pod{pod("loose", "web"), pod("foreign", "other"), leaving(pod("lost", "web"))}
	for name, test := range map[string]struct {
		deleted               bool
		owned, adopt, release string
	}{
		"living owner":  {owned: "ending mine", adopt: "loose", release: "relabelled"},
		"deleted owner": {deleted: true, owned: "ending mine"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := Sort(newOwner(test.deleted), owned, orphans)
			if got := podNames(claims.Owned); got != test.owned {
				t.Errorf("owned %q, want %q", got, test.owned)
			}
			if got := podNames(claims.Adopt); got != test.adopt {
				t.Errorf("to adopt %q, want %q", got, test.adopt)
			}
			if got := podNames(claims.Release); got != test.release {
				t.Errorf("to release %q, want %q", got, test.release)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	gone := apierrors.NewNotFound(corev1.Resource("pods"), "x")
	other := newOwner(false)
	other.SetUID("another")
	for name, test := range map[string]struct {
		fresh    metav1.Object
		patchErr error
		owned    string
		patches  int
		fails    bool
	}{
		"adopts and releases":            {fresh: newOwner(false), owned: "loose mine", patches: 2},
		"pods that went are no failure":  {fresh: newOwner(false), patchErr: gone, owned: "mine", patches: 2},
		"refused patches are":            {fresh: newOwner(false), patchErr: errors.New("no"), owned: "mine", patches: 2, fails: true},
		"owner deleted meanwhile":        {fresh: newOwner(true), owned: "mine", patches: 1, fails: true},
		"owner made anew under the name": {fresh: other, owned: "mine", patches: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			patches := 0
			claimant := Claimant[*corev1.Pod]{
				Patch: func(_ context.Context, child *corev1.Pod, _ []byte) (*corev1.Pod, error) {
					patches++
					return child, test.patchErr
				},
				Recheck: func(context.Context) (metav1.Object, error) { return test.fresh, nil },
			}
			claims := Claims[*corev1.Pod]{Owned: []*corev1.Pod{pod("mine", "web")}, Adopt: []*corev1.Pod{pod("loose", "web")}, Release: []*corev1.Pod{pod("old", "other")}}
			all, err := claimant.Settle(t.Context(), newOwner(false), claims)
			if got := podNames(all); got != test.owned {
				t.Errorf("has %q, want %q", got, test.owned)
			}
			if patches != test.patches || (err != nil) != test.fails {
				t.Errorf("%d patches and error %v", patches, err)
			}
		})
	}
}

func TestPatchesNameTheUID(t *testing.T) {
	child := pod("a", "web")
	child.UID = "child"
	if got, want := string(adoptPatch(newOwner(false), child)), `{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"set","controller":true,"blockOwnerDeletion":true}],"uid":"child"}}`; got != want {
		t.Errorf("adopt %s\nwant  %s", got, want)
	}
	if got, want := string(releasePatch(newOwner(false), child)), `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"set"}],"uid":"child"}}`; got != want {
		t.Errorf("release %s\nwant    %s", got, want)
	}
	owner := newOwner(false)
	owner.Finalizers = []string{"example.com/track"}
	if got := string(adoptPatch(owner, child)); !strings.Contains(got, `"finalizers":["example.com/track"]`) {
		t.Errorf("adopt %s", got)
	}
}
