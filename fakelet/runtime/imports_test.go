package runtime_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The code of the simulation has no way to the host: of the packages that lead
// there it imports none. (net and net/http are used over pipes in memory, by
// dialers of our own.)
func TestNothingOfTheHostIsImported(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for _, leads := range []string{"os", "os/exec", "os/user", "io/ioutil", "plugin", "unsafe", "path/filepath", "mvdan.cc/sh/v3/interp", "golang.org/x/sys/unix"} {
			if slices.Contains(fields[1:], leads) {
				t.Errorf("%s imports %s", fields[0], leads)
			}
		}
	}
}
