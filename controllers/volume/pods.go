package volume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
)

// byClaim is the index of pods by the claims that they name.
const byClaim = "claim"

// IndexPods adds the index that PodsOf needs to an informer of pods, before it starts.
func IndexPods(pods cache.SharedIndexInformer) error {
	if _, found := pods.GetIndexer().GetIndexers()[byClaim]; found {
		return nil
	}
	err := pods.AddIndexers(cache.Indexers{byClaim: func(obj any) ([]string, error) {
		var keys []string
		for _, claim := range ClaimsOf(obj.(*corev1.Pod)) {
			keys = append(keys, claim.String())
		}
		return keys, nil
	}})
	if err != nil {
		return fmt.Errorf("index of pods by claim: %w", err)
	}
	return nil
}

// PodsOf lists the pods that use a claim. A pod whose ephemeral volume would
// have the name of a claim that is not its own does not use it.
func PodsOf(pods cache.Indexer, claim *corev1.PersistentVolumeClaim) []*corev1.Pod {
	objects, err := pods.ByIndex(byClaim, cache.MetaObjectToName(claim).String())
	if err != nil {
		panic(err) // IndexPods was not called
	}
	var users []*corev1.Pod
	for _, obj := range objects {
		if pod := obj.(*corev1.Pod); Uses(pod, claim) {
			users = append(users, pod)
		}
	}
	return users
}

// Uses reports whether the claim is behind one of the pod's volumes.
func Uses(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if pod.Namespace != claim.Namespace {
		return false
	}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if ClaimName(pod, volume) != claim.Name {
			continue
		}
		if volume.Ephemeral == nil || ephemeral.VolumeIsForPod(pod, claim) == nil {
			return true
		}
	}
	return false
}

// ClaimsOf names the claims behind a pod's volumes, whether they exist or not.
func ClaimsOf(pod metav1.Object) []cache.ObjectName {
	p, ok := pod.(*corev1.Pod)
	if !ok {
		return nil
	}
	var claims []cache.ObjectName
	for i := range p.Spec.Volumes {
		if name := ClaimName(p, &p.Spec.Volumes[i]); name != "" {
			claims = append(claims, cache.ObjectName{Namespace: p.Namespace, Name: name})
		}
	}
	return claims
}

// ClaimName is the name of the claim behind a volume, "" if there is none.
func ClaimName(pod *corev1.Pod, volume *corev1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return ephemeral.VolumeClaimName(pod, volume)
	}
	return ""
}
