package trace

import "go.opentelemetry.io/otel/attribute"

// The vocabulary. Object values read resource[.group]/[namespace/]name, such
// as "deployments.apps/default/web"; revisions are etcd's.
const (
	Component       = attribute.Key("kubesim.component")        // apiserver, deployment-controller, scheduler, kubelet …
	Object          = attribute.Key("kubesim.object")           // what the span is about
	UID             = attribute.Key("kubesim.uid")              // uid of that object
	Verb            = attribute.Key("kubesim.verb")             // request verb: create, update, patch, delete …
	Subresource     = attribute.Key("kubesim.subresource")      // of a request: status, binding, scale …
	UserAgent       = attribute.Key("kubesim.user_agent")       // first word of the client's User-Agent
	Code            = attribute.Key("kubesim.code")             // HTTP status of a request
	User            = attribute.Key("kubesim.user")             // who sent a request
	AuthenticatedBy = attribute.Key("kubesim.authenticated_by") // by what that is known
	AllowedBy       = attribute.Key("kubesim.allowed_by")       // which rule let it pass
	Needed          = attribute.Key("kubesim.needed")           // what would have let it pass
	Changed         = attribute.Key("kubesim.changed")          // JSON: what admission plugins changed, as []Change
	Wrote           = attribute.Key("kubesim.wrote")            // revision that a request wrote (int)
	Woke            = attribute.Key("kubesim.woke")             // revision of the event that woke a reconcile (int)
	WokeObject      = attribute.Key("kubesim.woke_by")          // object whose event that was
	Decision        = attribute.Key("kubesim.decision")         // in words: "want 3, have 1, create 2"
	Nodes           = attribute.Key("kubesim.nodes")            // JSON: what the scheduler's plugins said of nodes
)

// ObjectName forms the value of Object.
func ObjectName(resource, group, namespace, name string) string {
	s := resource
	if group != "" {
		s += "." + group
	}
	if namespace != "" {
		s += "/" + namespace
	}
	return s + "/" + name
}
