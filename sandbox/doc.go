// Package sandbox assembles store, API server, controllers, scheduler and
// fakelet into one running cluster. The command, the tests and operator
// developers' tests all start it here.
//
// It guarantees:
//   - The components meet through the API alone. They get a rest.Config, as they
//     do in a process of their own; in this one it hands requests to the API
//     server's handler without a socket (see transport).
//   - Close returns when every goroutine that Start began has ended, within two
//     seconds whatever watches are open.
//   - A component that can't go on ends the sandbox (see Failed); nothing runs on
//     half alive.
//
// It leaves out what a real cluster's parts need to find and to trust each
// other: certificates, tokens, load balancers.
package sandbox
