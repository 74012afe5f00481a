package openapi

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// operation is what one method does on one path, apart from the version of OpenAPI.
type operation struct {
	path, method    string
	action          string // as x-kubernetes-action has it
	id, description string
	tag             string
	kind            schema.GroupVersionKind
	query           []parameter
	body            string // name of its schema, "" for none
	response        string // name of its schema, "" for plain text
	codes           []int
	patch           bool // the body is a patch
	custom          bool // on a custom resource: no protobuf, no strategic merge
	list            bool // the answer may be a stream of events
}

// resource is a row with the names of its schemas.
type resource struct {
	*kinds.Kind
	object, list string
	custom       bool
}

// methods are the HTTP methods of verbs, with the word that begins an operation's id
// and what the operation does to the object, in words.
type method struct{ http, action, word string }

var verbs = map[string]method{
	"get":              {"get", "get", "read"},
	"list":             {"get", "list", "list"},
	"create":           {"post", "post", "create"},
	"update":           {"put", "put", "replace"},
	"patch":            {"patch", "patch", "patch"},
	"delete":           {"delete", "delete", "delete"},
	"deletecollection": {"delete", "deletecollection", "delete"},
}

// operations lists all that can be done with a resource.
func operations(r *resource, models map[schema.GroupVersionKind]string) []operation {
	var out []operation
	for _, verb := range r.ServedVerbs() {
		if verb == "watch" { // is a parameter of list
			continue
		}
		out = append(out, r.operation(verb))
		if verb == "list" && r.Namespaced {
			all := r.operation(verb)
			all.path = r.root() + "/" + r.Resource
			all.id = "list" + r.title() + r.Kind.Kind + "ForAllNamespaces"
			out = append(out, all)
		}
	}
	for _, sub := range r.Subresources {
		for _, verb := range sub.Verbs {
			out = append(out, r.subOperation(sub, verb, models))
		}
	}
	return out
}

// operation is that of a verb on the resource itself.
func (r *resource) operation(verb string) operation {
	m := verbs[verb]
	o := r.newOperation(verb)
	o.path = r.collection()
	o.kind = r.GroupVersionKind()
	o.response = r.object
	scoped := r.Kind.Kind
	if r.Namespaced {
		scoped = "Namespaced" + scoped
	}
	o.id = m.word + r.title() + scoped
	switch verb {
	case "list":
		o.response, o.list = r.list, r.Stored()
	case "create":
	case "deletecollection":
		o.id = "delete" + r.title() + "Collection" + scoped
	default:
		o.path += "/{name}"
	}
	o.description = sentences[verb](r.Kind.Kind)
	if o.list && !r.custom {
		o.description = strings.Replace(o.description, "list", "list or watch", 1)
	}
	return o
}

// sentences say what an operation does.
var sentences = map[string]func(kind string) string{
	"get":              func(kind string) string { return "read the specified " + kind },
	"list":             func(kind string) string { return "list objects of kind " + kind },
	"create":           func(kind string) string { return "create " + article(kind) + kind },
	"update":           func(kind string) string { return "replace the specified " + kind },
	"patch":            func(kind string) string { return "partially update the specified " + kind },
	"delete":           func(kind string) string { return "delete " + article(kind) + kind },
	"deletecollection": func(kind string) string { return "delete collection of " + kind },
}

// verbWords are the words that stand before the object of a sentence.
var verbWords = map[string]string{"get": "read ", "create": "create ", "update": "replace ", "patch": "partially update ", "delete": "delete "}

// article goes before a kind; plurals have none.
func article(kind string) string {
	if strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss") {
		return ""
	}
	if strings.ContainsRune("AEIOU", rune(kind[0])) {
		return "an "
	}
	return "a "
}

// newOperation fills in what follows from the verb.
func (r *resource) newOperation(verb string) operation {
	m := verbs[verb]
	o := operation{
		method: m.http, action: m.action, tag: tagOf(r.Group, r.Version),
		query: parametersOf(verb), codes: []int{200},
	}
	switch verb {
	case "create":
		o.body, o.codes = r.object, []int{200, 201, 202}
	case "update":
		o.body, o.codes = r.object, []int{200, 201}
	case "patch":
		o.body, o.codes, o.patch = patchModel, []int{200, 201}, true
	case "delete":
		o.body, o.codes = deleteModel, []int{200, 202}
	case "deletecollection":
		o.body = deleteModel
	}
	if r.custom {
		o.custom = true
		o.likeCustom(verb)
	}
	return o
}

// likeCustom changes what Kubernetes describes in another way for custom resources.
func (o *operation) likeCustom(verb string) {
	switch verb {
	case "get":
		o.query = fieldsOf(metav1.GetOptions{})
	case "patch":
		o.codes = []int{200}
	case "deletecollection":
		o.query, o.body = parametersOf("list"), ""
	}
}

// subOperation is that of a verb on a subresource.
func (r *resource) subOperation(sub kinds.Subresource, verb string, models map[schema.GroupVersionKind]string) operation {
	o := r.newOperation(verb)
	o.path = r.collection() + "/{name}/" + sub.Name
	o.kind, o.response = r.GroupVersionKind(), r.object
	if sub.Kind.Kind != "" {
		o.kind, o.response = sub.Kind, models[sub.Kind]
	}
	if r.custom {
		o.kind = r.GroupVersionKind()
	}
	if o.body == r.object {
		o.body = o.response
	}
	scoped := r.Kind.Kind + title(sub.Name)
	if r.Namespaced {
		scoped = "Namespaced" + scoped
	}
	o.id = verbs[verb].word + r.title() + scoped
	o.description = strings.Replace(sentences[verb](r.Kind.Kind), verbWords[verb], verbWords[verb]+sub.Name+" of ", 1)
	switch {
	case strings.HasSuffix(o.kind.Kind, "Options"): // a connection, described by its parameters
		o.id = "connect" + r.title() + title(o.method) + scoped
		o.description = "connect " + strings.ToUpper(o.method) + " requests to " + sub.Name + " of " + r.Kind.Kind
		o.action, o.body, o.response, o.codes, o.patch = "connect", "", "", []int{200}, false
		o.query = connectParameters(o.kind.Kind)
	case sub.Name == "log":
		o.response, o.query = "", connectParameters("PodLogOptions")
	}
	return o
}

func (r *resource) root() string {
	if r.Group == "" {
		return "/api/" + r.Version
	}
	return "/apis/" + r.Group + "/" + r.Version
}

func (r *resource) collection() string {
	if r.Namespaced {
		return r.root() + "/namespaces/{namespace}/" + r.Resource
	}
	return r.root() + "/" + r.Resource
}

// title is group and version as ids have them, such as RbacAuthorizationV1.
func (r *resource) title() string {
	return title(groupWords(r.Group)) + title(r.Version)
}

// tagOf is group and version as tags have them, such as rbacAuthorization_v1.
func tagOf(group, version string) string { return groupWords(group) + "_" + version }

// groupWords joins the words of a group without Kubernetes' own domain.
func groupWords(group string) string {
	if group == "" {
		return "core"
	}
	words := strings.FieldsFunc(strings.TrimSuffix(group, ".k8s.io"), func(c rune) bool { return c == '.' || c == '-' })
	for i := range words[1:] {
		words[i+1] = title(words[i+1])
	}
	return strings.Join(words, "")
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// paths are the paths of operations, in order.
func paths(all []operation) []string {
	var out []string
	for _, o := range all {
		out = append(out, o.path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
