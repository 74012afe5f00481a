// Package manifest reads manifests as users write them, posts them, and follows
// what they become until it runs.
//
// It does on the server's side what kubectl create does, and no more: an object
// that exists gets the manifest as a merge patch, so fields that were deleted
// from a manifest stay. Use kubectl apply where that matters.
package manifest
