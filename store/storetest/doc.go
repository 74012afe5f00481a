// Package storetest checks that a store.Store keeps the promises of package
// store. Each implementation's tests call Run.
package storetest
