package children

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNamespaceGone(t *testing.T) {
	terminating := apierrors.NewForbidden(corev1.Resource("pods"), "a", errors.New("x is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, test := range map[string]struct {
		err  error
		gone bool
	}{
		"terminating":        {terminating, true},
		"wrapped":            {fmt.Errorf("claim: %w", terminating), true},
		"gone":               {apierrors.NewNotFound(corev1.Resource("namespaces"), "x"), true},
		"another is missing": {apierrors.NewNotFound(corev1.Resource("pods"), "x"), false},
		"quota":              {apierrors.NewForbidden(corev1.Resource("pods"), "a", errors.New("exceeded quota")), false},
		"none":               {nil, false},
	} {
		if NamespaceGone(test.err) != test.gone {
			t.Errorf("%s: %t", name, !test.gone)
		}
	}
}
