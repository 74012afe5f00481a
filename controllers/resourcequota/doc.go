// Package resourcequota counts what a namespace's objects use of its quotas.
//
//	watches     ResourceQuotas; Pods, Services, PersistentVolumeClaims, and the
//	            metadata of whatever else some quota counts
//	owns        status of a ResourceQuota
//	writes      ResourceQuotas: status
//	invariants  status.used never falls below what admission has charged for
//	            requests that are still on their way
//
// Admission adds to status.used before it stores an object; this controller puts
// right what was charged in vain and takes off what was deleted. As the count
// of an object that was charged comes later than the charge, a lower number is
// only written once the quota was left alone for a moment.
package resourcequota
