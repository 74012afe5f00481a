package openapi

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names of the schemas that bodies and answers share.
var (
	deleteModel = metav1.DeleteOptions{}.OpenAPIModelName()
	patchModel  = metav1.Patch{}.OpenAPIModelName()
	statusModel = metav1.Status{}.OpenAPIModelName()
)

// parameter is one of a query, or a variable of the path.
type parameter struct{ name, kind, description string }

// parametersOf are those of a verb: the fields of its options.
func parametersOf(verb string) []parameter {
	switch verb {
	case "list":
		return fieldsOf(metav1.ListOptions{})
	case "create":
		return fieldsOf(metav1.CreateOptions{})
	case "update":
		return fieldsOf(metav1.UpdateOptions{})
	case "patch":
		return fieldsOf(metav1.PatchOptions{})
	case "delete":
		return fieldsOf(metav1.DeleteOptions{})
	case "deletecollection":
		all := append(fieldsOf(metav1.ListOptions{}), fieldsOf(metav1.DeleteOptions{})...)
		all = slices.DeleteFunc(all, func(p parameter) bool { return p.name == "watch" || p.name == "allowWatchBookmarks" })
		slices.SortFunc(all, byName)
		return all
	}
	return nil
}

// connectParameters are those of a connection.
func connectParameters(options string) []parameter {
	return map[string][]parameter{
		"PodExecOptions":        fieldsOf(corev1.PodExecOptions{}),
		"PodAttachOptions":      fieldsOf(corev1.PodAttachOptions{}),
		"PodLogOptions":         fieldsOf(corev1.PodLogOptions{}),
		"PodPortForwardOptions": fieldsOf(corev1.PodPortForwardOptions{}),
		"PodProxyOptions":       fieldsOf(corev1.PodProxyOptions{}),
		"ServiceProxyOptions":   fieldsOf(corev1.ServiceProxyOptions{}),
		"NodeProxyOptions":      fieldsOf(corev1.NodeProxyOptions{}),
	}[options]
}

func byName(a, b parameter) int { return strings.Compare(a.name, b.name) }

// fieldsOf makes parameters of the fields of options. Structs have no place in a query.
func fieldsOf(options documenter) []parameter {
	t, doc := reflect.TypeOf(options), options.SwaggerDoc()
	var out []parameter
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		kind := queryType(t.Field(i).Type)
		if name != "" && kind != "" {
			out = append(out, parameter{name, kind, doc[name]})
		}
	}
	slices.SortFunc(out, byName)
	return out
}

// queryType is the type of a value in a query. Of a list, each value stands for itself.
func queryType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return queryType(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int32, reflect.Int64:
		return "integer"
	}
	if t == reflect.TypeFor[metav1.Time]() {
		return "string"
	}
	return ""
}

// pathParameters are the variables of a path, and the one that every path takes.
func pathParameters(path string) []parameter {
	var out []parameter
	if strings.Contains(path, "{name}") {
		out = append(out, parameter{"name", "string", "name of the object"})
	}
	if strings.Contains(path, "{namespace}") {
		out = append(out, parameter{"namespace", "string", "object name and auth scope, such as for teams and projects"})
	}
	return append(out, parameter{"pretty", "string", "If 'true', then the output is pretty printed. Defaults to 'false' unless the " +
		"user-agent indicates a browser or command-line HTTP tool (curl and wget)."})
}

// place is where the parameter stands.
func (p parameter) place() string {
	if p.name == "name" || p.name == "namespace" {
		return "path"
	}
	return "query"
}
