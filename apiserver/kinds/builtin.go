package kinds

import "slices"

// Builtin are the rows of Kubernetes' own API. The order of groups is the one
// in which the aggregation layer of a real server lists them.
func Builtin() []Kind {
	return slices.Concat(
		core(), apiregistration(), apps(), events(), authentication(), authorization(), autoscaling(), batch(),
		certificates(), networking(), policy(), rbac(), storage(), admissionregistration(), apiextensions(),
		scheduling(), coordination(), node(), discovery(), dynamicResources(), flowcontrol(), storagemigration(),
	)
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
