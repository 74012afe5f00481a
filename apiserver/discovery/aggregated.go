package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

func newAggregatedList() *apidiscoveryv2.APIGroupDiscoveryList {
	return &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: apidiscoveryv2.SchemeGroupVersion.String()},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
}

func aggregatedGroup(g *group) apidiscoveryv2.APIGroupDiscovery {
	out := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
	for _, v := range g.versions {
		if v.remote != nil {
			out.Versions = append(out.Versions, v.remote.aggregatedVersion())
			continue
		}
		version := apidiscoveryv2.APIVersionDiscovery{Version: v.version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		for _, k := range v.rows {
			version.Resources = append(version.Resources, aggregatedResource(k))
		}
		out.Versions = append(out.Versions, version)
	}
	return out
}

func aggregatedResource(k *kinds.Kind) apidiscoveryv2.APIResourceDiscovery {
	scope := apidiscoveryv2.ScopeCluster
	if k.Namespaced {
		scope = apidiscoveryv2.ScopeNamespace
	}
	out := apidiscoveryv2.APIResourceDiscovery{
		Resource: k.Resource, SingularResource: k.SingularName(), Scope: scope, ResponseKind: responseKind(k, kinds.Subresource{}),
		Verbs: k.ListedVerbs(), ShortNames: k.ShortNames, Categories: k.Categories,
	}
	for _, sub := range k.Subresources {
		out.Subresources = append(out.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: sub.Name, ResponseKind: responseKind(k, sub), Verbs: sub.Verbs,
		})
	}
	return out
}

// responseKind leaves group and version out where they are those of the resource,
// as the legacy documents do; only custom resources spell them out.
func responseKind(k *kinds.Kind, sub kinds.Subresource) *metav1.GroupVersionKind {
	if k.Unstructured && sub.Kind.Kind == "" {
		gvk := metav1.GroupVersionKind(k.GroupVersionKind())
		return &gvk
	}
	legacy := apiSubresource(k, sub)
	return &metav1.GroupVersionKind{Group: legacy.Group, Version: legacy.Version, Kind: legacy.Kind}
}
