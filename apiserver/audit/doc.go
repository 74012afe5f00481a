// Package audit writes down who asked for what and what became of it: a line of
// JSON (audit.k8s.io/v1) for each stage of a request that a policy wants logged.
package audit
