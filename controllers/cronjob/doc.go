// Package cronjob makes a Job each time a CronJob's schedule says so.
//
//	watches     CronJobs, Jobs
//	owns        Jobs, by controller reference
//	writes      Jobs: create, delete; CronJobs: status
//	invariants  a scheduled time makes at most one Job, as the Job's name is made
//	            of the minute; with concurrencyPolicy Forbid no two Jobs are active
//
// Of several times that were missed, while the controllers were down or the
// CronJob was suspended, only the last one is made up for, unless it is longer
// ago than startingDeadlineSeconds.
//
// decide is a pure function of the CronJob, its Jobs and the time. A schedule
// without time zone is in UTC, where kube-controller-manager takes its own zone.
package cronjob
