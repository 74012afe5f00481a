// Package volume relates pods to the claims that they use, for the controllers
// of storage.
package volume
