package discovery

import (
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Remote is a group version that another server serves. Its own document is for that
// server to give.
type Remote struct {
	Group, Version                 string
	GroupPriority, VersionPriority int32
	// Resources is what it served last; nil while it can't be asked.
	Resources *metav1.APIResourceList
}

// aggregatedVersion describes the resources of a remote, whose documents are legacy ones.
func (r *Remote) aggregatedVersion() apidiscoveryv2.APIVersionDiscovery {
	out := apidiscoveryv2.APIVersionDiscovery{Version: r.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
	if r.Resources == nil {
		return out
	}
	out.Freshness = apidiscoveryv2.DiscoveryFreshnessCurrent
	places := map[string]int{}
	for _, resource := range r.Resources.APIResources {
		if name, sub, ok := strings.Cut(resource.Name, "/"); ok {
			if at, ok := places[name]; ok {
				out.Resources[at].Subresources = append(out.Resources[at].Subresources, apidiscoveryv2.APISubresourceDiscovery{
					Subresource: sub, ResponseKind: r.responseKind(resource), Verbs: resource.Verbs,
				})
			}
			continue
		}
		scope := apidiscoveryv2.ScopeCluster
		if resource.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		places[resource.Name] = len(out.Resources)
		out.Resources = append(out.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: resource.Name, SingularResource: resource.SingularName, Scope: scope, ResponseKind: r.responseKind(resource),
			Verbs: resource.Verbs, ShortNames: resource.ShortNames, Categories: resource.Categories,
		})
	}
	return out
}

func (r *Remote) responseKind(resource metav1.APIResource) *metav1.GroupVersionKind {
	out := &metav1.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}
	if out.Group == "" && out.Version == "" {
		out.Group, out.Version = r.Group, r.Version
	}
	return out
}
