// Package commands has those commands of kubesim that ask a running API server:
// kubectl, trace, why, clock, fault and node. The binary offers them, and so do
// lessons, which run all but kubectl without a process of their own (WithConfig).
package commands

import "github.com/spf13/cobra"

// Client are all of them but kubectl, which reads its flags itself.
func Client() []*cobra.Command {
	return []*cobra.Command{Trace(), Why(), Node(), Clock(), Fault()}
}
