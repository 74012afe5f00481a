package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a kubesim in a process of its own.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr *lockedBuffer
	ended  chan error
}

var readyLine = regexp.MustCompile(`^kubesim( apiserver)? is ready: (http://\S+)`)

// kubesim is the command line of a process; see TestMain.
func kubesim(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = "kubesim"
	return cmd
}

// startProcess runs a server until it says that it is ready. It is killed at
// the end of the test if it still runs.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: kubesim(context.Background(), t, args...), stderr: &lockedBuffer{}, ended: make(chan error, 1)}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	go func() {
		<-drained
		p.ended <- p.cmd.Wait()
	}()
	t.Cleanup(func() { p.kill(t) })
	match := readyLine.FindStringSubmatch(first)
	if err != nil || match == nil {
		t.Fatalf("kubesim %v said %q (%v) and\n%s", args, first, err, p.stderr)
	}
	p.url = match[2]
	return p
}

// kill ends the process as a crash would. It may have ended by itself.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill()
	p.wait(t, time.Minute)
}

// interrupt asks the process to end, as Ctrl-C does, and says how long it took.
func (p *process) interrupt(t *testing.T) time.Duration {
	t.Helper()
	asked := time.Now()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.wait(t, time.Minute); err != nil {
		t.Errorf("after an interrupt the process ended with %v and\n%s", err, p.stderr)
	}
	return time.Since(asked)
}

// wait returns how the process ended. It may be called again.
func (p *process) wait(t *testing.T, limit time.Duration) error {
	t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		return err
	case <-time.After(limit):
		t.Fatalf("the process did not end in %s", limit)
		return nil
	}
}

// runKubesim runs a command to its end and returns what it printed.
func runKubesim(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := kubesim(ctx, t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// lockedBuffer collects output while others may read it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func TestRefusesWhatIsTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first := startProcess(t, "up", "--data-dir", dir, "--http", "127.0.0.1:0", "--nodes", "0")
	address := strings.TrimPrefix(first.url, "http://")
	_, port, _ := strings.Cut(address, ":")
	for name, test := range map[string]struct {
		args []string
		want []string // on stderr
	}{
		"a port in use":                  {[]string{"up", "--ephemeral", "--http", address}, []string{"--http", port, "in use"}},
		"a data directory in use":        {[]string{"up", "--data-dir", dir, "--http", "127.0.0.1:0"}, []string{dir, "in use"}},
		"a store that does not exist":    {[]string{"up", "--store", "mysql"}, []string{"--store", "mysql"}},
		"a file that is not there":       {[]string{"up", "-f", dir + "/none.yaml"}, []string{"-f", dir + "/none.yaml"}},
		"a flag that does not exist":     {[]string{"up", "--no-such-flag"}, []string{"--no-such-flag"}},
		"a command that does not exist":  {[]string{"dwon"}, []string{"dwon"}},
		"a kubeconfig that is not there": {[]string{"scheduler", "--kubeconfig", dir + "/none"}, []string{dir + "/none"}},
		"a sandbox that is not there":    {[]string{"trace", "pod/a", "--server", "http://127.0.0.1:1"}, []string{"127.0.0.1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, err := runKubesim(t, test.args...)
			if err == nil {
				t.Fatal("the command succeeded")
			}
			for _, want := range test.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q:\n%s", want, stderr)
				}
			}
		})
	}
}
