package discovery

import (
	"crypto/sha256"
	"encoding/base64"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// coreVersions is the answer to /api. The address is the one that the client used.
// The documents of core have no apiVersion; they are older than it.
func coreVersions(host string) *metav1.APIVersions {
	return &metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
		Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
			{ClientCIDR: "0.0.0.0/0", ServerAddress: host},
		},
	}
}

func apiGroup(g *group) metav1.APIGroup {
	out := metav1.APIGroup{Name: g.name}
	for _, v := range g.versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v.name(g), Version: v.version})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

func resourceList(g *group, v groupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList"},
		GroupVersion: v.name(g),
	}
	if g.name != "" {
		list.APIVersion = "v1"
	}
	for _, k := range v.rows {
		list.APIResources = append(list.APIResources, apiResource(k))
		for _, sub := range k.Subresources {
			list.APIResources = append(list.APIResources, apiSubresource(k, sub))
		}
	}
	return list
}

func apiResource(k *kinds.Kind) metav1.APIResource {
	return metav1.APIResource{
		Name: k.Resource, SingularName: k.SingularName(), Namespaced: k.Namespaced, Kind: k.Kind,
		Verbs: k.ListedVerbs(), ShortNames: k.ShortNames, Categories: k.Categories, StorageVersionHash: storageHash(k),
	}
}

// apiSubresource names group and version only where they are not the parent's.
func apiSubresource(k *kinds.Kind, sub kinds.Subresource) metav1.APIResource {
	out := metav1.APIResource{Name: k.Resource + "/" + sub.Name, Namespaced: k.Namespaced, Kind: k.Kind, Verbs: sub.Verbs}
	if sub.Kind.Kind != "" {
		out.Kind = sub.Kind.Kind
		if sub.Kind.GroupVersion() != k.GroupVersionKind().GroupVersion() {
			out.Group, out.Version = sub.Kind.Group, sub.Kind.Version
		}
	}
	return out
}

// storageHash tells clients when the stored version of a kind changes: the
// first eight bytes of a SHA-256 over group/version/kind.
func storageHash(k *kinds.Kind) string {
	if !k.Stored() {
		return ""
	}
	group, version := k.Group, k.Version
	if k.Storage != nil {
		group, version = k.Storage.Group, k.Storage.Version
	}
	if k.StorageVersion != "" {
		version = k.StorageVersion
	}
	sum := sha256.Sum256([]byte(group + "/" + version + "/" + k.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
