// Package runtime runs the containers of pods without any container: shell
// scripts and known tools in an interpreter, everything else as a server that
// starts, answers on its ports and lives on.
//
// What a container does is decided once, from its image and command (plan.go):
//
//   - A server, or a command whose end can be seen, such as sleep 3600, is only a
//     plan. It holds no goroutine and next to no memory until somebody looks: reads
//     its log, opens a shell in it, connects to one of its ports.
//   - A script runs: its first process has PID 1 and the container ends with it.
//
// Guarantees:
//
//   - Nothing of the host can be reached: files are those of package vfs, names and
//     connections those of the simulated cluster, processes goroutines of this one.
//   - A container takes no more CPU time than its share (StepsPerSecond for each
//     CPU of its limit, one without), and all together no more than a few cores'.
//   - Memory beyond the limit, or beyond what one container may really hold, kills
//     it, as the kernel would. Output is kept up to a bound, processes are counted.
//
// Left out: users other than by number, TLS, UDP, IPv6, cgroups, anything that
// needs a binary which is not in package tools.
package runtime
