// Package compat runs the clients that people use on real clusters against a
// sandbox: Helm and a controller-runtime manager. It is a module of its own, so
// that what they need does not become what kubesim needs.
package compat
