// Package dynamic has the admission plugins that users extend: webhooks, and
// policies written in CEL.
//
//	match.go       which requests a webhook or policy is about
//	source.go      what the plugins look up, and how
//	webhook.go     the webhooks of all configurations, compiled once a revision
//	call.go        asking a webhook
//	mutating.go    MutatingAdmissionWebhook: one after the other, each sees what the last made
//	validating.go  ValidatingAdmissionWebhook: all at once, the first refusal in order counts
//	policy.go      policies with their bindings and parameters
//	validatingpolicy.go, mutatingpolicy.go
//
// None of them costs anything while there is no configuration of its kind.
package dynamic
