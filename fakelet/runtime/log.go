package runtime

import (
	"bytes"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// maxLog is how many bytes of output a container keeps; older lines are dropped,
// as rotated log files are.
const maxLog = 256 << 10

// Line is one line of output, without its newline.
type Line struct {
	At   time.Time
	Text []byte
	// Partial is true for a piece of a line whose end has not come yet.
	Partial bool
}

// Log is a container's output. It may be read while it grows.
type Log struct {
	clock clock.Clock
	// charge is told of each write before it is kept: so many lines and bytes.
	charge func(lines, size int) error

	mu      sync.Mutex
	lines   []Line
	first   int // number of lines dropped
	size    int
	closed  bool
	changed chan struct{} // closed and replaced with each change
}

// NewLog returns an empty log.
func NewLog(c clock.Clock) *Log { return &Log{clock: c, changed: make(chan struct{})} }

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	if l.charge != nil {
		if err := l.charge(bytes.Count(b, []byte{'\n'}), len(b)); err != nil {
			return 0, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for rest := b; len(rest) > 0; {
		text, after, complete := bytes.Cut(rest, []byte{'\n'})
		l.append(now, text, !complete)
		rest = after
	}
	l.trim()
	l.wake()
	return len(b), nil
}

func (l *Log) append(at time.Time, text []byte, partial bool) {
	if n := len(l.lines); n > 0 && l.lines[n-1].Partial && len(l.lines[n-1].Text)+len(text) <= 16<<10 {
		last := &l.lines[n-1]
		last.Text = append(bytes.Clone(last.Text), text...)
		last.Partial = partial
		l.size += len(text)
		return
	}
	l.lines = append(l.lines, Line{At: at, Text: bytes.Clone(text), Partial: partial})
	l.size += len(text) + 64
}

// trim drops a quarter of the lines at once, so that it is seldom called for.
func (l *Log) trim() {
	if l.size <= maxLog {
		return
	}
	drop := 0
	for l.size > maxLog*3/4 && drop < len(l.lines)-1 {
		l.size -= len(l.lines[drop].Text) + 64
		drop++
	}
	if drop > 0 {
		l.lines = append([]Line(nil), l.lines[drop:]...)
		l.first += drop
	}
}

func (l *Log) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Add appends a whole line as of some time.
func (l *Log) Add(at time.Time, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(at, []byte(text), false)
	l.wake()
}

// Close tells followers that nothing more comes.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.wake()
	}
}

// Lines are those kept now.
func (l *Log) Lines() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Line(nil), l.lines...)
}

// Follow calls do with each line from the given one on, as they are completed,
// until the log is closed or ctx ends. A partial line comes when it is complete,
// or with the end.
func (l *Log) Follow(ctx context.Context, from int, do func(Line) error) error {
	for {
		l.mu.Lock()
		from = max(from, l.first)
		var ready []Line
		for _, line := range l.lines[min(from-l.first, len(l.lines)):] {
			if line.Partial && !l.closed {
				break
			}
			ready = append(ready, line)
		}
		closed, changed := l.closed, l.changed
		l.mu.Unlock()
		for _, line := range ready {
			if err := do(line); err != nil {
				return err
			}
		}
		from += len(ready)
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

// Position is the number of the next line, for Follow; back goes some lines back.
func (l *Log) Position(back int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first + max(0, len(l.lines)-back)
}

// Tail is the end of the output, at most so many lines and bytes.
func (l *Log) Tail(lines, size int) string {
	all := l.Lines()
	all = all[max(0, len(all)-lines):]
	var b bytes.Buffer
	for _, line := range all {
		b.Write(line.Text)
		b.WriteByte('\n')
	}
	text := b.Bytes()
	return string(text[max(0, len(text)-size):])
}
