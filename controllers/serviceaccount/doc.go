// Package serviceaccount has two controllers. New gives every active namespace
// its ServiceAccount "default", and gives it back after someone deletes it:
// pods are not admitted to a namespace without it. NewTokens fills Secrets of
// type kubernetes.io/service-account-token and deletes those whose
// ServiceAccount is gone. It signs with a key made at its start, which nobody
// checks tokens with.
package serviceaccount
