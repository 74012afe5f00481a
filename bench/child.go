package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"

	"k8s.io/client-go/rest"
)

// Child is a server under test in a process of its own, so that its CPU time
// and memory are not mixed with the clients'.
type Child struct {
	cmd  *exec.Cmd
	dir  string
	URL  string
	Took time.Duration // from exec to ready, with the start of the process
}

// StartChild runs a kubesim command on a fresh data directory and a free port,
// with fsync, and returns when it says that it is ready.
func StartChild(ctx context.Context, executable string, args ...string) (_ *Child, err error) {
	dir, err := os.MkdirTemp("", "kubesim-bench-")
	if err != nil {
		return nil, err
	}
	c := &Child{dir: dir}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	c.cmd = exec.CommandContext(ctx, executable, append(args, "--data-dir", dir, "--http", "127.0.0.1:0")...)
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) }
	c.cmd.WaitDelay = 5 * time.Second
	c.cmd.Stderr = os.Stderr
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server ended before it was ready: %w", err)
	}
	c.Took = time.Since(began)
	go io.Copy(io.Discard, lines) // ends with the process
	match := regexp.MustCompile(`is ready: (\S+)`).FindStringSubmatch(first)
	if match == nil {
		return nil, fmt.Errorf("the server said %q instead of that it is ready", first)
	}
	c.URL = match[1]
	return c, nil
}

// RESTConfig reaches the child.
func (c *Child) RESTConfig() *rest.Config { return &rest.Config{Host: c.URL} }

// Stop ends the process and removes its data.
func (c *Child) Stop() {
	if c.cmd != nil && c.cmd.Process != nil {
		_ = c.cmd.Cancel() // it may have ended by itself
		_ = c.cmd.Wait()
	}
	_ = os.RemoveAll(c.dir)
}
