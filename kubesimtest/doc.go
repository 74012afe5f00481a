// Package kubesimtest starts a Kubernetes cluster inside a Go test: API server,
// controllers, scheduler and pretend nodes, in tens of milliseconds, without
// binaries, containers or sockets. Many may run side by side.
//
//	func TestMine(t *testing.T) {
//		cluster := kubesimtest.Start(t, kubesimtest.Options{Nodes: 1})
//		cluster.Apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`)
//		…
//	}
//
// Unlike an API server alone, as envtest has it, namespaces can be deleted,
// dependents are collected, and Deployments become ready.
//
// Inside a [testing/synctest] bubble all time is virtual: five minutes until an
// eviction pass at once, and a test that waits for something that never comes
// fails at once.
//
// [ForEachCrashPoint] runs an operator again and again, and ends it after its
// first write, its second, and so on: whatever happened, it must come to the same
// result. [Cluster.Break] breaks links: it pauses or crashes components, loses events
// of watches, answers requests with errors. When a test fails, the steps of what it applied are in its log.
package kubesimtest
