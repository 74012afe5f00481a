package lesson

import (
	"fmt"
	"os"
	"testing"

	"github.com/kubesim/kubesim/commands"
)

// TestMain makes this program a kubectl where a lesson runs it as one.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "kubectl" {
		os.Exit(m.Run())
	}
	cmd := commands.Kubectl()
	cmd.SetArgs(os.Args[2:])
	if err := cmd.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
