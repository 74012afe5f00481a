package kinds

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/printers"
)

// Builtin are the rows of Kubernetes' own API. The order of groups is the one
// in which the aggregation layer of a real server lists them.
func Builtin() []Kind {
	rows := slices.Concat(
		core(), apiregistration(), apps(), events(), authentication(), authorization(), autoscaling(), batch(),
		certificates(), networking(), policy(), rbac(), storage(), admissionregistration(), apiextensions(),
		scheduling(), coordination(), node(), discovery(), dynamicResources(), flowcontrol(), storagemigration(),
	)
	for i := range rows {
		rows[i].Columns = columnsOf(&rows[i])
	}
	return rows
}

// columnsOf are the columns of the kind that the row is stored as.
func columnsOf(k *Kind) *printers.Columns {
	if c := k.Storage; c != nil {
		return printers.For(schema.GroupKind{Group: c.Group, Kind: k.Kind}).After(c.To)
	}
	return printers.For(k.GroupVersionKind().GroupKind())
}

// in puts rows into a group version.
func in(group, version string, rows ...Kind) []Kind {
	for i := range rows {
		rows[i].Group, rows[i].Version = group, version
	}
	return rows
}

// each sets the same thing on several rows.
func each(set func(*Kind), rows ...Kind) []Kind {
	for i := range rows {
		set(&rows[i])
	}
	return rows
}
