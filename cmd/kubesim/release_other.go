//go:build !linux

package main

import "runtime/debug"

// releaseMemory gives back the heap's free pages.
func releaseMemory() { debug.FreeOSMemory() }
