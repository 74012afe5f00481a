package apiserver

import (
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listOptions reads the query of a list, a watch or the deletion of a collection,
// and refuses combinations that make no sense.
func (q *request) listOptions() (*metav1.ListOptions, error) {
	var opts metav1.ListOptions
	if err := metav1.Convert_url_Values_To_v1_ListOptions(&q.query, &opts, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	errs := validation.ValidateListOptions(&internalversion.ListOptions{
		Watch: q.verb == "watch", SendInitialEvents: opts.SendInitialEvents, Continue: opts.Continue,
		ResourceVersion: opts.ResourceVersion, ResourceVersionMatch: opts.ResourceVersionMatch,
	}, true)
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(), "", errs)
	}
	return &opts, nil
}

// isSet reads a boolean of a query: what is there is true, even without a value,
// unless it is false or 0.
func isSet(query url.Values, name string) bool {
	v := query.Get(name)
	return query.Has(name) && !strings.EqualFold(v, "false") && v != "0"
}
