package children

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// ByController is an index of namespaced objects by their controller's uid, and
// of those without one by namespace.
const ByController = "controller"

func orphansOf(namespace string) string { return "orphans/" + namespace }

// Index adds the index to informers that don't have it yet, before they start.
func Index(informers ...cache.SharedIndexInformer) error {
	for _, informer := range informers {
		if _, found := informer.GetIndexer().GetIndexers()[ByController]; found {
			continue
		}
		err := informer.AddIndexers(cache.Indexers{ByController: func(obj any) ([]string, error) {
			child := obj.(metav1.Object)
			if ref := metav1.GetControllerOfNoCopy(child); ref != nil {
				return []string{string(ref.UID)}, nil
			}
			return []string{orphansOf(child.GetNamespace())}, nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// Of lists the objects whose controller has that uid.
func Of[T metav1.Object](indexer cache.Indexer, uid types.UID) []T {
	return list[T](indexer, string(uid))
}

// Orphans lists the objects of a namespace that have no controller.
func Orphans[T metav1.Object](indexer cache.Indexer, namespace string) []T {
	return list[T](indexer, orphansOf(namespace))
}

func list[T metav1.Object](indexer cache.Indexer, value string) []T {
	objects, err := indexer.ByIndex(ByController, value)
	if err != nil {
		panic(err) // Index was not called
	}
	typed := make([]T, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(T)
	}
	return typed
}

// Active tells whether a pod counts: it is neither finished nor going.
func Active(pod *corev1.Pod) bool {
	return !Finished(pod) && pod.DeletionTimestamp == nil
}

// Terminating tells whether a pod that has not finished is being deleted.
func Terminating(pod *corev1.Pod) bool {
	return !Finished(pod) && pod.DeletionTimestamp != nil
}

// Finished tells whether all containers of a pod have ended for good.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
