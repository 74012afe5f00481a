// Package bench measures an API server as its clients meet it: requests over
// HTTP, watches, and a Deployment's way to Ready. It works against any API
// server, and shows beside kubesim what embedded etcd gives by itself.
//
// On a small machine client and server share the cores, so throughput says
// little about the server alone. The steady figure is the CPU time that the
// server's process took per operation, read from its own metrics.
//
// Objects are made in namespaces of their own, which are deleted at the end.
package bench
