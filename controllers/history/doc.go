// Package history keeps the templates that a StatefulSet or a DaemonSet has had
// as ControllerRevisions. kubectl rollout history lists them, rollout undo
// writes one back.
//
// A revision holds the template as a patch of its owner. Going back to an
// earlier template makes no new revision, it gives that one the next number, so
// that the highest number always is the current template.
package history
