package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// rewritable are the verbs of a subresource that is another view on a stored object.
func rewritable() []string { return []string{"get", "patch", "update"} }

// proxied are the verbs of a subresource that hands requests on.
func proxied() []string { return []string{"create", "delete", "get", "patch", "update"} }

// status is the subresource by which controllers report.
func status() Subresource { return Subresource{Name: "status", Verbs: rewritable()} }

// scale is the subresource that shows a workload's number of replicas.
func scale() Subresource {
	return Subresource{
		Name: "scale", Verbs: rewritable(),
		Kind: schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
	}
}

// sub is a subresource that speaks a kind of core/v1.
func sub(name, kind string, verbs ...string) Subresource {
	return Subresource{Name: name, Verbs: verbs, Kind: schema.GroupVersionKind{Version: "v1", Kind: kind}}
}

// fields are selectors whose name is the path of the value.
func fields(names ...string) []Field {
	out := make([]Field, len(names))
	for i, name := range names {
		out[i] = Field{Name: name, Path: name}
	}
	return out
}

// count is the selector on a number, which reads as 0 where it is left out.
func count(name string) Field { return Field{Name: name, Path: name, Default: "0"} }

// flag is the selector on a boolean, which reads as false where it is left out.
func flag(name string) Field { return Field{Name: name, Path: name, Default: "false"} }
