// Package placement finds the pods of a node in an informer's cache.
package placement

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// ByNode is an index of pods by the node that they are bound to.
const ByNode = "node"

// Index adds the index to the pods' informer if it has none yet, before it starts.
func Index(pods cache.SharedIndexInformer) error {
	if _, found := pods.GetIndexer().GetIndexers()[ByNode]; found {
		return nil
	}
	return pods.AddIndexers(cache.Indexers{ByNode: func(obj any) ([]string, error) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			return []string{pod.Spec.NodeName}, nil
		}
		return nil, nil
	}})
}

// On lists the pods that are bound to a node, in no order.
func On(pods cache.Indexer, node string) []*corev1.Pod {
	objects, err := pods.ByIndex(ByNode, node)
	if err != nil {
		panic(err) // Index was not called
	}
	typed := make([]*corev1.Pod, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(*corev1.Pod)
	}
	return typed
}
