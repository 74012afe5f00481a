package apiserver

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// resetFields filters out the fields that a write to a resource or subresource can't
// set, in all versions of the kind: nobody comes to own what is put back.
func (s *Server) resetFields(res *resource, sub string) map[fieldpath.APIVersion]fieldpath.Filter {
	filter := resetFilter(res, sub)
	if filter == nil {
		return nil
	}
	out := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, k := range s.table.kinds() {
		if k.Group != res.Group || k.Resource != res.Resource {
			continue
		}
		out[fieldpath.APIVersion(k.GroupVersionKind().GroupVersion().String())] = filter
	}
	return out
}

func resetFilter(res *resource, sub string) fieldpath.Filter {
	name := res.GroupResource().String()
	if sub != "" {
		name += "/" + sub
	}
	if filter, ok := resetFilters[name]; ok {
		return filter
	}
	_, hasStatus := res.subresource("status")
	switch {
	case sub == "status":
		return without("spec")
	case sub == "" && hasStatus:
		return without("status")
	}
	return nil
}

// resetFilters are those that differ from what most kinds have.
var resetFilters = map[string]fieldpath.Filter{
	"namespaces/finalize":      without("status"),
	"deployments.apps/status":  without("spec", "metadata.labels"),
	"pods/status":              without("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
	"pods/ephemeralcontainers": only([]any{"spec", "ephemeralContainers"}),
	"pods/resize":              onlyResources(),
	"certificatesigningrequests.certificates.k8s.io":                  without("spec", "status"),
	"podcertificaterequests.certificates.k8s.io/status":               without("spec", "status.conditions"),
	"devicetaintrules.resource.k8s.io/status":                         without("metadata", "spec"),
	"certificatesigningrequests.certificates.k8s.io/status":           without("spec", "status.conditions"),
	"certificatesigningrequests.certificates.k8s.io/approval":         without("spec", "status.certificate"),
	"customresourcedefinitions.apiextensions.k8s.io/status":           without("metadata", "spec"),
	"apiservices.apiregistration.k8s.io/status":                       without("metadata", "spec"),
	"flowschemas.flowcontrol.apiserver.k8s.io/status":                 without("metadata", "spec"),
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/status": without("metadata", "spec"),
	"volumeattachments.storage.k8s.io/status":                         without("metadata", "spec"),
	"validatingadmissionpolicies.admissionregistration.k8s.io/status": without("metadata", "spec"),
	"resourceclaims.resource.k8s.io/status":                           without("metadata", "spec"),
	"storageversionmigrations.storagemigration.k8s.io/status":         without("metadata", "spec"),
}

// without leaves out some fields.
func without(paths ...string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, p := range paths {
		set.Insert(fieldPath(p))
	}
	return fieldpath.NewExcludeSetFilter(set)
}

func fieldPath(path string) fieldpath.Path {
	var out fieldpath.Path
	for name := range strings.SplitSeq(path, ".") {
		out = append(out, fieldpath.PathElement{FieldName: &name})
	}
	return out
}

// only keeps some fields and what is below them.
func only(prefixes ...[]any) fieldpath.Filter {
	matchers := make([]*fieldpath.SetMatcher, len(prefixes))
	for i, prefix := range prefixes {
		matchers[i] = fieldpath.MakePrefixMatcherOrDie(prefix...)
	}
	return fieldpath.NewIncludeMatcherFilter(matchers...)
}

// onlyResources keeps what a resize of a pod is about.
func onlyResources() fieldpath.Filter {
	var prefixes [][]any
	for _, list := range []string{"containers", "initContainers"} {
		for _, name := range []string{"resources", "resizePolicy"} {
			prefixes = append(prefixes, []any{"spec", list, fieldpath.MatchAnyPathElement(), name})
		}
	}
	return only(prefixes...)
}
