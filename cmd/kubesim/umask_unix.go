//go:build unix

package main

import "syscall"

// keepPrivate makes the files of this process readable by their owner alone:
// all of a cluster's secrets are in them. etcd leaves that of its snapshots to
// the umask.
func keepPrivate() { syscall.Umask(0o077) }
