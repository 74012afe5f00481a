package garbagecollector

import (
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// A mapping says where the objects of a kind are served.
type mapping struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// resources is what discovery last told.
type resources struct {
	client discovery.DiscoveryInterface
	mu     sync.RWMutex
	kinds  map[schema.GroupVersionKind]mapping
}

func (r *resources) mappingOf(kind schema.GroupVersionKind) (mapping, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found, ok := r.kinds[kind]
	return found, ok
}

// discover learns the kinds served, and returns those to watch. With an error,
// the kinds of some groups may be missing from both.
func (r *resources) discover() (map[schema.GroupVersionResource]schema.GroupVersionKind, error) {
	_, all, err := r.client.ServerGroupsAndResources()
	kinds := map[schema.GroupVersionKind]mapping{}
	each(all, func(version schema.GroupVersion, resource metav1.APIResource) {
		kinds[version.WithKind(resource.Kind)] = mapping{version.WithResource(resource.Name), resource.Namespaced}
	})
	r.mu.Lock()
	for kind, known := range r.kinds {
		if _, again := kinds[kind]; err != nil && !again {
			kinds[kind] = known
		}
	}
	r.kinds = kinds
	r.mu.Unlock()

	preferred, preferredErr := discovery.ServerPreferredResources(r.client)
	watched := map[schema.GroupVersionResource]schema.GroupVersionKind{}
	each(preferred, func(version schema.GroupVersion, resource metav1.APIResource) {
		for _, verb := range []string{"delete", "list", "watch"} {
			if !slices.Contains(resource.Verbs, verb) {
				return
			}
		}
		// Events have no dependents, are many, and expire by themselves.
		if resource.Kind == "Event" && (version.Group == "" || version.Group == "events.k8s.io") {
			return
		}
		watched[version.WithResource(resource.Name)] = version.WithKind(resource.Kind)
	})
	if err == nil {
		err = preferredErr
	}
	return watched, err
}

// each visits the resources of the lists, without subresources.
func each(lists []*metav1.APIResourceList, visit func(schema.GroupVersion, metav1.APIResource)) {
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.APIResources {
			if !strings.Contains(resource.Name, "/") {
				visit(version, resource)
			}
		}
	}
}
