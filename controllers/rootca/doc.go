// Package rootca publishes the CA bundle that clients within a cluster verify
// the API server with, as ConfigMap kube-root-ca.crt of every namespace, and
// undoes what others do to it.
package rootca
