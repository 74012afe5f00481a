package admission

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// forbidden makes the 403 that all plugins refuse with. A refusal that comes
// from further down is passed on as it is.
func forbidden(a *Attributes, cause error) error {
	if apierrors.IsForbidden(cause) {
		return cause
	}
	return apierrors.NewForbidden(a.GVR.GroupResource(), a.subject(), cause)
}

// subject is the name to show. While plugins may still change the object its
// name counts as not drawn yet, so that a generated name shows without its
// random end.
func (a *Attributes) subject() string {
	if a.Object == nil {
		return a.Name
	}
	m, err := meta.Accessor(a.Object)
	if err != nil {
		return a.Name
	}
	name := a.Name
	if name == "" {
		name = m.GetName()
	}
	base := m.GetGenerateName()
	switch {
	case a.Verb == Create && a.isMutating && base != "" && strings.HasPrefix(name, base):
		return base
	case name == "" && base != "":
		return base
	case name == "":
		return "Unknown"
	}
	return name
}

// Forbidden is the refusal for plugins of other packages.
func Forbidden(a *Attributes, cause error) error { return forbidden(a, cause) }
