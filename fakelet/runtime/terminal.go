package runtime

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// ExecIn is Exec for clients with a terminal: it does what the driver of a terminal
// does, since the client's own is in raw mode. Keys are echoed, lines edited, Ctrl-C
// interrupts and Ctrl-D ends the input.
func (c *Container) ExecIn(ctx context.Context, command Command) (int, error) {
	if !command.TTY || command.Stdin == nil || command.Stdout == nil {
		return c.Exec(ctx, command)
	}
	keys := command.Stdin
	t := newTerminal(command.Stdout)
	defer t.close()
	command.Stdin, command.Stdout, command.Stderr = t.reader, t, t
	command.Started = func(p *process.Process) {
		go t.drive(keys, func() { c.interrupt(p) })
	}
	return c.Exec(ctx, command)
}

// interrupt sends SIGINT to a process and to all that it has started.
func (c *Container) interrupt(p *process.Process) {
	family := map[int]bool{p.PID: true}
	for _, other := range c.Processes() {
		if family[other.PPID] || other.PID == p.PID {
			family[other.PID] = true
			other.Signal(process.SIGINT)
		}
	}
}

// terminal turns keys into lines, and lines of output into those of a screen.
type terminal struct {
	reader *io.PipeReader
	writer *io.PipeWriter

	mu  sync.Mutex
	out io.Writer
}

func newTerminal(out io.Writer) *terminal {
	r, w := io.Pipe()
	return &terminal{reader: r, writer: w, out: out}
}

func (t *terminal) close() {
	_ = t.reader.Close()
	_ = t.writer.Close()
}

// Write implements io.Writer.
func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.out.Write(bytes.ReplaceAll(b, []byte{'\n'}, []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

const (
	ctrlC     = 0x03
	ctrlD     = 0x04
	backspace = 0x08
	ctrlU     = 0x15
	escape    = 0x1b
	rubOut    = 0x7f
	maxTyped  = 4096
)

// drive reads keys until there are no more.
func (t *terminal) drive(keys io.Reader, interrupt func()) {
	defer t.writer.Close()
	r := bufio.NewReader(keys)
	var line []byte
	for {
		key, err := r.ReadByte()
		if err != nil {
			return
		}
		switch key {
		case '\r', '\n':
			t.echo("\n")
			if _, err := t.writer.Write(append(line, '\n')); err != nil {
				return
			}
			line = line[:0]
		case ctrlC:
			t.echo("^C\n")
			line = line[:0]
			interrupt()
		case ctrlD:
			if len(line) == 0 {
				return
			}
		case ctrlU:
			for range line {
				t.echo("\b \b")
			}
			line = line[:0]
		case backspace, rubOut:
			if len(line) > 0 {
				line = line[:len(line)-1]
				t.echo("\b \b")
			}
		case escape:
			t.skip(r)
		default:
			if len(line) < maxTyped {
				line = append(line, key)
				t.echo(string([]byte{key}))
			}
		}
	}
}

// skip drops the rest of a sequence such as that of an arrow key.
func (t *terminal) skip(r *bufio.Reader) {
	next, err := r.ReadByte()
	if err != nil || next != '[' {
		return
	}
	for {
		if next, err = r.ReadByte(); err != nil || next >= '@' {
			return
		}
	}
}

func (t *terminal) echo(text string) { _, _ = t.Write([]byte(text)) }
