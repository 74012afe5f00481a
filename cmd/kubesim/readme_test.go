package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/commands"
)

// moduleRoot is where the README's commands are run.
const moduleRoot = "../.."

// TestMain makes the test's binary kubesim itself when it is called so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubesim" {
		main()
		return
	}
	os.Exit(m.Run())
}

// block is a shell block of the README with the comment above it:
//
//	<!-- run: TEXT -->      run it, TEXT must be in what it prints
//	<!-- server: TEXT -->   the same, but it is the server that the others talk to
//	<!-- not run: WHY -->
type block struct {
	mark, arg, script string
}

var (
	shellBlock = regexp.MustCompile("(?s)(?:<!-- (run|server|not run): ([^\n]*) -->\n)?```sh\n(.*?)```")
	serverAddr = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)
)

// TestREADME runs the README's commands in their order, against the server that
// the README's first command starts, only on a free port.
func TestREADME(t *testing.T) {
	env := environment(t)
	addr := ""
	for _, b := range blocks(t) {
		switch b.mark {
		case "server":
			addr = startServer(t, env, b)
		case "run":
			runBlock(t, env, addr, b)
		case "not run":
			t.Logf("not run, since %s:\n%s", b.arg, b.script)
		default:
			t.Errorf("README block without a comment that says whether to run it:\n%s", b.script)
		}
	}
}

func blocks(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	for _, m := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		found = append(found, block{mark: m[1], arg: m[2], script: m[3]})
	}
	if len(found) == 0 {
		t.Fatal("README has no shell blocks")
	}
	return found
}

// environment has a fresh home directory, and kubesim in PATH.
func environment(t *testing.T) []string {
	t.Helper()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the README's commands need %s: %v", tool, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "kubesim")); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// startServer runs the README's server on a port of its own until the test ends.
// It returns the address, once all that was posted runs.
func startServer(t *testing.T, env []string, b block) string {
	t.Helper()
	script := "exec " + strings.Replace(b.script, "go run ./cmd/kubesim up", "kubesim up --http 127.0.0.1:0", 1)
	cmd := command(t, env, script)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The pipe is read to its end before Wait closes it.
	ready, drained := make(chan string, 1), make(chan struct{})
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("interrupt: %v", err)
		}
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	go func() {
		defer close(drained)
		defer close(ready)
		ready <- readAddress(stdout, b.arg)
		_, _ = io.Copy(io.Discard, stdout) // so that the server never waits for a reader
	}()
	addr := <-ready
	if addr == "" {
		t.Fatalf("the server ended without printing %q", b.arg)
	}
	return addr
}

// readAddress returns the address in the line that begins with prefix, after
// that of a Deployment that has all of its pods.
func readAddress(stdout io.Reader, prefix string) string {
	addr := ""
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if m := serverAddr.FindStringSubmatch(lines.Text()); m != nil && strings.HasPrefix(lines.Text(), prefix) {
			addr = m[1]
		}
		if strings.Contains(lines.Text(), "3 of 3 pods ready") {
			return addr
		}
	}
	return ""
}

func runBlock(t *testing.T, env []string, addr string, b block) {
	t.Helper()
	if addr == "" {
		t.Fatal("the README uses a server before it starts one")
	}
	cmd := command(t, env, "set -eu\n"+strings.ReplaceAll(b.script, commands.DefaultAddress, addr))
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), `"status":"Failure"`) || !strings.Contains(string(out), b.arg) {
		t.Errorf("%s\nprinted, with error %v and without %q or with a failure:\n%s", b.script, err, b.arg, out)
	}
}

// command runs a script in the root of the module, for a minute at most.
func command(t *testing.T, env []string, script string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = moduleRoot, env
	return cmd
}
