package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/shell"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

const (
	// maxProcesses is how many run in one container at a time.
	maxProcesses = 100
	// maxHeld is how much memory one container may really take.
	maxHeld = 16 << 20
	// maxDisk is how much it may write to its own layer.
	maxDisk = 16 << 20
	// sharedCPUs is what all containers of this process may take together.
	sharedCPUs = 8
)

// Runtime has what all containers share.
type Runtime struct {
	clock  clock.WithTicker
	shared *bucket
}

// New returns a runtime by a clock.
func New(c clock.WithTicker) *Runtime { return &Runtime{clock: c, shared: newBucket(c, sharedCPUs)} }

// Spec says what a container is made of.
type Spec struct {
	Plan
	Image    string
	Hostname string
	User     int64
	Env      map[string]string
	Dir      string
	Mounts   []Mount
	ReadOnly bool // its own layer
	Stdin    bool // its first process has a standard input
	TTY      bool
	CPUs     float64 // 0 for one
	Memory   int64   // 0 for no limit
	Network  process.Network
	// Programs are found in /usr/local/bin, beside the tools of the image.
	Programs map[string]process.Program
	// Message is the file that becomes the termination message, FromLog whether
	// the log stands in for it after an error.
	Message string
	FromLog bool
	// Started is when it began; what it wrote then is dated so.
	Started time.Time
}

// Mount is a volume in a container.
type Mount struct {
	Path, Sub string
	Tree      *vfs.Tree
	ReadOnly  bool
}

// Result is how a container ended.
type Result struct {
	Code    int32
	Reason  string
	Message string
	At      time.Time
}

// Container is one run of a container.
type Container struct {
	runtime *Runtime
	spec    Spec
	log     *Log
	ctx     context.Context //nolint:containedctx // its life, which no caller bounds
	kill    context.CancelCauseFunc
	cpu     *bucket
	exited  func()
	files   func() *vfs.FS
	stdin   *attached

	mu        sync.Mutex
	processes map[int]*process.Process
	nextPID   int
	held      int64 // memory
	claimed   int64
	peak      int64
	result    *Result
	listeners map[int]*listener
	serving   int // server programs that a script has started
	state     any // of the image's server, see redisReply
}

var (
	errOOM   = errors.New("out of memory")
	errEnded = errors.New("the container has ended")
)

// Container makes a container, which runs as soon as its plan needs that. exited
// is called when it ends by itself.
func (r *Runtime) Container(spec Spec, exited func()) *Container {
	cpus := spec.CPUs
	if cpus <= 0 {
		cpus = 1
	}
	c := &Container{
		runtime: r, spec: spec, exited: exited, log: NewLog(r.clock), cpu: newBucket(r.clock, cpus),
		processes: map[int]*process.Process{}, nextPID: 1, listeners: map[int]*listener{},
	}
	c.ctx, c.kill = context.WithCancelCause(context.Background())
	c.files = sync.OnceValue(c.build)
	c.log.charge = func(lines, size int) error { return c.Use(c.ctx, lines+size/256) }
	c.stdin = newAttached(spec.Stdin)
	context.AfterFunc(c.ctx, c.stdin.end)
	for _, line := range spec.banner() {
		c.log.Add(spec.Started, line)
	}
	main := &process.Process{
		Machine: c, Args: spec.Argv, Env: spec.Env, Dir: spec.Dir, TTY: spec.TTY,
		Stdin: c.stdin, Stdout: c.log, Stderr: c.log,
	}
	if spec.Kind != Script {
		main.PID, main.Started = 1, spec.Started
		c.nextPID = 2
		c.processes[1] = main
		return c
	}
	if _, err := c.Spawn(c.ctx, main, c.first); err != nil {
		c.end(128, "StartError", err.Error())
	}
	return c
}

// first runs the command, and the container ends with it.
func (c *Container) first(ctx context.Context, p *process.Process) int {
	file, err := p.Find(p.Args[0])
	if err != nil {
		c.end(128, "StartError", StartError(p.Args[0]))
		return 128
	}
	code := shell.Load(c, file)(ctx, p)
	var killed process.Killed
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOOM):
		c.end(137, "OOMKilled", "")
	case errors.As(cause, &killed):
		code = 128 + int(killed.Signal)
		c.end(int32(code), "", "")
	default:
		c.end(int32(code), "", "")
	}
	return code
}

// StartError is what a runtime says about a command that is not there.
func StartError(name string) string {
	reason := "executable file not found in $PATH"
	if strings.Contains(name, "/") {
		reason = "no such file or directory"
	}
	return fmt.Sprintf("failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: %q: %s", name, reason)
}

// end notes how the container ended, once.
func (c *Container) end(code int32, reason, message string) {
	c.mu.Lock()
	if c.result != nil {
		c.mu.Unlock()
		return
	}
	if reason == "" {
		reason = "Completed"
		if code != 0 {
			reason = "Error"
		}
	}
	c.result = &Result{Code: code, Reason: reason, Message: message, At: c.runtime.clock.Now()}
	for port, l := range c.listeners {
		l.shut()
		delete(c.listeners, port)
	}
	c.mu.Unlock()
	if message == "" {
		message = c.message(code)
		c.mu.Lock()
		c.result.Message = message
		c.mu.Unlock()
	}
	c.log.Close()
	c.kill(errEnded)
	c.exited()
}

// message is the termination message: the file, or after an error the log's end.
func (c *Container) message(code int32) string {
	if c.spec.Message != "" {
		if data, err := c.FS().ReadFile(c.spec.Message); err == nil && len(data) > 0 {
			return string(data[:min(len(data), 4096)])
		}
	}
	if code != 0 && c.spec.FromLog {
		return c.log.Tail(80, 2048)
	}
	return ""
}

// Result is how the container ended, nil while it runs.
func (c *Container) Result() *Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

// Log is the container's output.
func (c *Container) Log() *Log { return c.log }

// Spec is what the container was made of.
func (c *Container) Spec() Spec { return c.spec }

// Signal sends a signal to the first process.
func (c *Container) Signal(s process.Signal) {
	c.mu.Lock()
	first := c.processes[1]
	c.mu.Unlock()
	switch {
	case c.spec.Kind == Script && first != nil:
		first.Signal(s)
	case c.spec.Kind != Script && s == process.SIGTERM && c.spec.graceful():
		c.end(0, "", "")
	case c.spec.Kind != Script && s != 0:
		c.end(int32(128+s), "", "")
	}
}

// Catches tells whether the first process has a handler for the signal, so that it
// may take its time.
func (c *Container) Catches(s process.Signal) bool {
	c.mu.Lock()
	first := c.processes[1]
	c.mu.Unlock()
	return c.spec.Kind == Script && first != nil && first.Handles(s)
}

// Close ends the container without a word, for one whose pod is gone or that the
// kubelet has stopped.
func (c *Container) Close(r Result) {
	c.mu.Lock()
	if c.result == nil {
		c.result = &r
	}
	for _, l := range c.listeners {
		l.shut()
	}
	c.mu.Unlock()
	c.log.Close()
	c.kill(process.Killed{Signal: process.SIGKILL})
}

// Command is a program to run in a container, beside its first process.
type Command struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	TTY            bool
	// Started gets the process once it runs.
	Started func(*process.Process)
}

// Exec runs a command and returns its exit code. An error means that it was not started.
func (c *Container) Exec(ctx context.Context, command Command) (int, error) {
	p := &process.Process{
		Machine: c, Args: command.Args, Env: c.spec.Env, Dir: c.spec.Dir, TTY: command.TTY,
		Stdin: command.Stdin, Stdout: command.Stdout, Stderr: command.Stderr,
	}
	if p.Stdin == nil {
		p.Stdin = empty{}
	}
	if p.Stdout == nil {
		p.Stdout = io.Discard
	}
	if p.Stderr == nil {
		p.Stderr = io.Discard
	}
	file, err := p.Find(command.Args[0])
	if err != nil {
		return 0, errors.New(strings.Replace(StartError(command.Args[0]), "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed", "OCI runtime exec failed: exec failed", 1))
	}
	lived, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { cancel(process.Killed{Signal: process.SIGHUP}) })
	defer stop()
	if _, err := c.Spawn(lived, p, shell.Load(c, file)); err != nil {
		return 0, err
	}
	if command.Started != nil {
		command.Started(p)
	}
	select {
	case <-p.Done():
		return p.Code(), nil
	case <-lived.Done():
		return 137, nil
	}
}

type empty struct{}

// Read implements io.Reader.
func (empty) Read([]byte) (int, error) { return 0, io.EOF }

// Usage is what the container has used.
func (c *Container) Usage() (cpuSeconds float64, memory int64) {
	c.mu.Lock()
	memory = c.held + c.claimed + c.spec.idleMemory()
	c.mu.Unlock()
	return float64(c.cpu.steps()) / process.StepsPerSecond, memory
}

// The rest implements process.Machine.

// Context ends with the container.
func (c *Container) Context() context.Context { return c.ctx }

// FS is the container's view of files, made when it is first asked for.
func (c *Container) FS() *vfs.FS { return c.files() }

// Clock is the one that all containers go by.
func (c *Container) Clock() clock.WithTicker { return c.runtime.clock }

// Hostname is the pod's.
func (c *Container) Hostname() string { return c.spec.Hostname }

// User is the numeric user.
func (c *Container) User() int64 { return c.spec.User }

// Network is what the container reaches; what it listens on is its own.
func (c *Container) Network() process.Network { return containerNetwork{c.spec.Network, c} }

// Use charges CPU time.
func (c *Container) Use(ctx context.Context, steps int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.cpu.take(ctx, steps); err != nil {
		return err
	}
	return c.runtime.shared.take(ctx, steps)
}

// Grow charges memory that is there.
func (c *Container) Grow(n int64) error { return c.charge(&c.held, n) }

// Claim charges memory that is not.
func (c *Container) Claim(n int64) error { return c.charge(&c.claimed, n) }

func (c *Container) charge(what *int64, n int64) error {
	c.mu.Lock()
	*what = max(0, *what+n)
	used := c.held + c.claimed
	c.peak = max(c.peak, used)
	over := n > 0 && (c.held > maxHeld || c.spec.Memory > 0 && used > c.spec.Memory || used > nodeMemory)
	c.mu.Unlock()
	if !over {
		return nil
	}
	c.kill(errOOM)
	if c.spec.Kind != Script {
		c.end(137, "OOMKilled", "")
	}
	return process.Killed{Signal: process.SIGKILL}
}

// nodeMemory is what a container without a limit may claim.
const nodeMemory = 8 << 30

// Spawn runs a program as a process of its own.
func (c *Container) Spawn(ctx context.Context, p *process.Process, run process.Program) (*process.Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	if len(c.processes) >= maxProcesses {
		c.mu.Unlock()
		return nil, process.ErrTooMany
	}
	p.PID, p.Started = c.nextPID, c.runtime.clock.Now()
	c.nextPID++
	c.processes[p.PID] = p
	ctx = p.Start(ctx)
	c.mu.Unlock()
	go func() {
		code := 139
		defer func() {
			// A fault in a tool is the container's, not kubesim's.
			if fault := recover(); fault != nil {
				fmt.Fprintf(p.Stderr, "%s: fault: %v\n", path.Base(p.Args[0]), fault)
				if p.PID == 1 {
					c.end(139, "Error", "")
				}
			}
			c.mu.Lock()
			delete(c.processes, p.PID)
			c.mu.Unlock()
			p.Finish(code)
		}()
		code = run(ctx, p)
		var killed process.Killed
		if errors.As(context.Cause(ctx), &killed) {
			code = 128 + int(killed.Signal)
		}
	}()
	return p, nil
}

// Processes are those that run, by their number.
func (c *Container) Processes() []*process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*process.Process
	for pid := range c.nextPID {
		if p, ok := c.processes[pid]; ok {
			out = append(out, p)
		}
	}
	return out
}

// Kill sends a signal. As on Linux, nobody inside can kill the first process by SIGKILL.
func (c *Container) Kill(pid int, s process.Signal) error {
	c.mu.Lock()
	p := c.processes[pid]
	c.mu.Unlock()
	switch {
	case p == nil:
		return errors.New("No such process")
	case pid == 1 && s == process.SIGKILL, s == 0:
		return nil
	case pid == 1:
		c.Signal(s)
	default:
		p.Signal(s)
	}
	return nil
}

// Lookup finds the program of a path.
func (c *Container) Lookup(file string) (process.Program, bool) { return c.program(file) }
