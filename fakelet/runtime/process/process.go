// Package process says what a program in a simulated container has around it:
// its arguments, files and streams, and the Machine, which meters what it uses.
// Packages shell and tools are programs; package runtime is the machine.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// Program is what runs: it returns its exit code.
type Program func(ctx context.Context, p *Process) int

// Machine is the container around a process. All its methods may be called by
// several processes at once.
type Machine interface {
	FS() *vfs.FS
	Clock() clock.WithTicker
	Hostname() string
	User() int64
	Network() Network

	// Context ends with the container.
	Context() context.Context
	// Use charges steps of CPU time. It waits while the container is over its
	// share, and fails once the process has to end.
	Use(ctx context.Context, steps int) error
	// Grow charges bytes that are really kept in memory, gives them back if
	// negative. Going over the limit kills the container.
	Grow(n int64) error
	// Claim charges bytes that a program would hold, but that are not there.
	Claim(n int64) error
	// Spawn runs a program as a child and returns once it has started.
	Spawn(ctx context.Context, p *Process, run Program) (*Process, error)
	// Lookup finds the program of a path, such as /bin/ls.
	Lookup(path string) (Program, bool)
	Processes() []*Process
	// Kill sends a signal to a process.
	Kill(pid int, s Signal) error
}

// Network is what a container can reach: the simulated cluster, nothing else.
type Network interface {
	// LookupHost returns the addresses of a name.
	LookupHost(ctx context.Context, host string) ([]string, error)
	// Dial connects to a port of a simulated pod or Service.
	Dial(ctx context.Context, host string, port int) (net.Conn, error)
	// Listen takes a port of this pod.
	Listen(port int) (net.Listener, error)
	// Addresses are those of this pod.
	Addresses() []string
}

// Process is a running program.
type Process struct {
	Machine   Machine
	PID, PPID int
	Args      []string
	Env       map[string]string // read by the program alone
	Dir       string
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	TTY       bool
	Started   time.Time

	mu      sync.Mutex
	handled map[Signal]bool // those that don't end it
	pending []Signal
	woken   chan struct{} // has one element while signals are pending
	cancel  context.CancelCauseFunc
	done    chan struct{}
	code    int
}

// Like is a child that has the files, streams and variables of its parent. It is
// not started yet.
func (p *Process) Like(args []string) *Process {
	return &Process{
		Machine: p.Machine, PPID: p.PID, Args: args, Env: p.Env, Dir: p.Dir, TTY: p.TTY,
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Started: p.Started,
	}
}

// Signal is a POSIX signal.
type Signal int

// The signals that mean something here.
const (
	SIGHUP  Signal = 1
	SIGINT  Signal = 2
	SIGQUIT Signal = 3
	SIGKILL Signal = 9
	SIGUSR1 Signal = 10
	SIGUSR2 Signal = 12
	SIGPIPE Signal = 13
	SIGALRM Signal = 14
	SIGTERM Signal = 15
)

var signalNames = map[string]Signal{
	"HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "KILL": SIGKILL, "USR1": SIGUSR1, "USR2": SIGUSR2,
	"PIPE": SIGPIPE, "ALRM": SIGALRM, "TERM": SIGTERM,
}

// ParseSignal reads a signal's name, with or without SIG, or its number.
func ParseSignal(s string) (Signal, error) {
	if n, ok := signalNames[strings.TrimPrefix(strings.ToUpper(s), "SIG")]; ok {
		return n, nil
	}
	var n int
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil || n < 0 || n > 64 {
		return 0, fmt.Errorf("bad signal name '%s'", s)
	}
	return Signal(n), nil
}

// Killed is why a process has to end at once.
type Killed struct{ Signal Signal }

// Error implements error.
func (k Killed) Error() string { return fmt.Sprintf("killed by signal %d", k.Signal) }

// Why a command does not start.
var (
	ErrTooMany = errors.New("can't fork: Resource temporarily unavailable")
	ErrTooLong = errors.New("Argument list too long")
)

// StepsPerSecond is how many steps a CPU makes in a second.
const StepsPerSecond = 20000

// MaxArgument is the longest argument, as on Linux.
const MaxArgument = 128 << 10

// Start makes a process ready to run; the machine calls it.
func (p *Process) Start(ctx context.Context) context.Context {
	p.woken, p.done = make(chan struct{}, 1), make(chan struct{})
	ctx, p.cancel = context.WithCancelCause(ctx)
	return ctx
}

// Finish notes the exit code; the machine calls it.
func (p *Process) Finish(code int) {
	p.code = code
	close(p.done)
	p.cancel(nil)
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Code is the exit code of a process that has ended.
func (p *Process) Code() int { return p.code }

// Handle has the process take a signal itself, or not any more.
func (p *Process) Handle(s Signal, handled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handled == nil {
		p.handled = map[Signal]bool{}
	}
	p.handled[s] = handled
}

// Handles tells whether the process takes a signal itself.
func (p *Process) Handles(s Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handled[s]
}

// Signal delivers a signal: a process that does not take it ends.
func (p *Process) Signal(s Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == 0 {
		return
	}
	if s == SIGKILL || !p.handled[s] {
		p.cancel(Killed{s})
		return
	}
	p.pending = append(p.pending, s)
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// Pending takes the signals that have come.
func (p *Process) Pending() []Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.pending
	p.pending = nil
	return out
}

// Woken receives when a signal has come.
func (p *Process) Woken() <-chan struct{} { return p.woken }

// Sleep waits for some time, or until the process is killed.
func (p *Process) Sleep(ctx context.Context, d time.Duration) error {
	timer := p.Machine.Clock().NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Path makes a path absolute.
func (p *Process) Path(name string) string {
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	return path.Join(p.Dir, name)
}

// Getenv is a variable of the environment, "" if it is not set.
func (p *Process) Getenv(name string) string { return p.Env[name] }

// Printf writes to the standard output; Errorf to the standard error, with the name of the program.
func (p *Process) Printf(format string, args ...any) { fmt.Fprintf(p.Stdout, format, args...) }

// Errorf writes a message to the standard error, with the name of the program.
func (p *Process) Errorf(format string, args ...any) {
	fmt.Fprintf(p.Stderr, path.Base(p.Args[0])+": "+format+"\n", args...)
}

// Find returns the path of a command, as PATH has it.
func (p *Process) Find(name string) (string, error) {
	if strings.Contains(name, "/") {
		info, err := p.Machine.FS().Stat(p.Path(name))
		switch {
		case err != nil:
			return "", fmt.Errorf("%w", errNotFound)
		case info.IsDir() || info.Mode()&0o111 == 0:
			return "", errDenied
		}
		return p.Path(name), nil
	}
	search := p.Env["PATH"]
	if search == "" {
		search = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	for dir := range strings.SplitSeq(search, ":") {
		file := path.Join(dir, name)
		if info, err := p.Machine.FS().Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", errNotFound
}

var (
	errNotFound = errors.New("not found")
	errDenied   = errors.New("Permission denied")
)

// ExitCode is a shell's code for a command that was not started.
func ExitCode(err error) int {
	if errors.Is(err, errDenied) {
		return 126
	}
	return 127
}
