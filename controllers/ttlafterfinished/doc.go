// Package ttlafterfinished deletes Jobs some time after they have finished.
//
//	watches     Jobs
//	writes      Jobs: delete, in the foreground
//	invariants  a Job goes no sooner than ttlSecondsAfterFinished after its end,
//	            and only if it has not changed since that was looked at
package ttlafterfinished
