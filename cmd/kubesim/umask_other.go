//go:build !unix

package main

// keepPrivate leaves files as the directory that they are in has it.
func keepPrivate() {}
