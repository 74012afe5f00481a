package protection

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wanted tells how an object's finalizers change: it gets ours while it lives,
// and loses it when it is being deleted and not in use. Whether it is in use is
// only asked when that decides.
func wanted(obj metav1.Object, finalizer string, inUse func() (bool, error)) (finalizers []string, changed bool, err error) {
	has := slices.Contains(obj.GetFinalizers(), finalizer)
	switch {
	case obj.GetDeletionTimestamp() == nil && !has:
		return append(slices.Clone(obj.GetFinalizers()), finalizer), true, nil
	case obj.GetDeletionTimestamp() == nil || !has:
		return nil, false, nil
	}
	used, err := inUse()
	if used || err != nil {
		return nil, false, err
	}
	return slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == finalizer }), true, nil
}
