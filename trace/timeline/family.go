package timeline

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/kubesim/kubesim/trace"
)

// generations are the resources that stand between a workload and its
// containers, owners before what they own.
func generations() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Group: "batch", Version: "v1", Resource: "jobs"},
		{Group: "apps", Version: "v1", Resource: "replicasets"},
		{Version: "v1", Resource: "pods"},
	}
}

// Family finds the objects that exist now and descend from the one with this
// uid by their ownerReferences, as spans name them.
func Family(ctx context.Context, client metadata.Interface, namespace string, root types.UID) ([]string, error) {
	owners := map[types.UID]bool{root: true}
	var family []string
	for _, resource := range generations() {
		list, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("looking for what belongs to it: %w", err)
		}
		for i := range list.Items {
			if item := &list.Items[i]; owned(item, owners) {
				owners[item.UID] = true
				family = append(family, trace.ObjectName(resource.Resource, resource.Group, namespace, item.Name))
			}
		}
	}
	return family, nil
}

func owned(item *metav1.PartialObjectMetadata, owners map[types.UID]bool) bool {
	for _, owner := range item.OwnerReferences {
		if owners[owner.UID] {
			return true
		}
	}
	return false
}
