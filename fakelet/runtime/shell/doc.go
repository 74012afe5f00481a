// Package shell runs shell scripts inside a simulated container. The parser and
// the expansions are those of mvdan.cc/sh; the evaluation is our own. The one of
// mvdan.cc/sh/interp joins the commands of a pipeline by pipes of the host, makes
// FIFOs there and asks it for permissions, and its variables may grow without
// bound. Here everything goes through process.Machine: files are virtual, pipes
// are in memory, each statement is charged, and each variable weighed.
//
// The language is POSIX sh with what scripts for bash and busybox use beside it:
// [[ ]], (( )), arrays, local, here-strings, pipefail, process substitution for
// reading, ERR and EXIT traps.
//
// Left out: job control, coprocesses, select, aliases, history.
package shell
