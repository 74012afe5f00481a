// Package serviceaccount gives every active namespace its ServiceAccount
// "default", and gives it back after someone deletes it: pods are not admitted
// to a namespace without it.
package serviceaccount
