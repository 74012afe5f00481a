package runtime

import (
	"context"
	"io"
	"sync"
)

// attached is the standard input of a container's first process: what those who
// attach send, or nothing if the container was made without one.
type attached struct {
	reader *io.PipeReader
	writer *io.PipeWriter

	mu    sync.Mutex
	ended bool
}

func newAttached(open bool) *attached {
	if !open {
		return &attached{ended: true}
	}
	r, w := io.Pipe()
	return &attached{reader: r, writer: w}
}

// Read implements io.Reader.
func (a *attached) Read(b []byte) (int, error) {
	if a.reader == nil {
		return 0, io.EOF
	}
	return a.reader.Read(b)
}

// end closes the input for good.
func (a *attached) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.ended = true
		_ = a.writer.Close()
	}
}

// Attach joins somebody to the container's first process: its output from now on,
// and its input if it has one. It returns when that process ends, or ctx. With
// once, the input ends with the first who attached.
func (c *Container) Attach(ctx context.Context, in io.Reader, out io.Writer, once bool) error {
	if in != nil && c.stdin.writer != nil {
		go func() {
			_, _ = io.Copy(c.stdin.writer, in)
			if once {
				c.stdin.end()
			}
		}()
	}
	return c.log.stream(ctx, out)
}

// stream writes output as it comes, partial lines too.
func (l *Log) stream(ctx context.Context, w io.Writer) error {
	at, done := l.Position(1), 0
	if in := l.Lines(); len(in) == 0 || !in[len(in)-1].Partial {
		at = l.Position(0)
	}
	for {
		l.mu.Lock()
		at = max(at, l.first)
		var pieces [][]byte
		for _, line := range l.lines[min(at-l.first, len(l.lines)):] {
			pieces = append(pieces, line.Text[min(done, len(line.Text)):])
			if done = len(line.Text); line.Partial {
				break
			}
			pieces = append(pieces, []byte{'\n'})
			at, done = at+1, 0
		}
		closed, changed := l.closed, l.changed
		l.mu.Unlock()
		for _, piece := range pieces {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		if closed {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}
