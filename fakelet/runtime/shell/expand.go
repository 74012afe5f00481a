package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

var errTooLarge = errors.New("expansion is too large")

// config is how words are expanded at this moment.
func (s *shell) config(ctx context.Context) *expand.Config {
	cfg := &expand.Config{
		Env:     environ{s},
		NoUnset: s.opts.nounset,
		CmdSubst: func(w io.Writer, cs *syntax.CmdSubst) error {
			return s.substitute(ctx, w, cs)
		},
		ProcSubst: func(ps *syntax.ProcSubst) (string, error) { return s.processFile(ctx, ps) },
	}
	if !s.opts.noglob {
		cfg.ReadDir2 = func(dir string) ([]fs.DirEntry, error) {
			if err := s.p.Machine.Use(ctx, 10); err != nil {
				return nil, err
			}
			return s.p.Machine.FS().ReadDir(s.p.Path(dir))
		}
	}
	return cfg
}

// substitute runs $(…) and writes what that prints.
func (s *shell) substitute(ctx context.Context, w io.Writer, cs *syntax.CmdSubst) error {
	var out limited
	var status int
	s.nested(func() { status = s.child(ctx, cs.Stmts, nil, &out) })
	s.status = status
	data, err := out.take()
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.ReplaceAll(data, []byte{0}, nil))
	return err
}

// processFile runs <(…) to its end and returns a file with what it printed.
func (s *shell) processFile(ctx context.Context, ps *syntax.ProcSubst) (string, error) {
	if ps.Op != syntax.CmdIn {
		return "", errors.New("process substitution for writing is not supported")
	}
	var out limited
	s.nested(func() { s.child(ctx, ps.Stmts, nil, &out) })
	name := fmt.Sprintf("/tmp/.proc-%d-%d", s.p.PID, ps.OpPos.Offset())
	if err := s.p.Machine.FS().MkdirAll("/tmp", 0o777); err != nil {
		return "", err
	}
	data, err := out.take()
	if err != nil {
		return "", err
	}
	return name, s.p.Machine.FS().WriteFile(name, data)
}

// limited is a buffer that takes no more than a variable may hold. Jobs in the
// background may still write to it when it is read.
type limited struct {
	mu   sync.Mutex
	data []byte
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.data)+len(b) > maxVariable {
		l.over = true
		return 0, process.Killed{Signal: process.SIGPIPE}
	}
	l.data = append(l.data, b...)
	return len(b), nil
}

// take returns what was written until now.
func (l *limited) take() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, errTooLarge
	}
	return bytes.Clone(l.data), nil
}

// check refuses words whose expansion could be out of all proportion: one that
// replaces each of many characters by a long text.
func (s *shell) check(words ...*syntax.Word) error {
	budget := maxVariable
	var err error
	for _, w := range words {
		syntax.Walk(w, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			case *syntax.ParamExp:
				if n.Param == nil {
					return true
				}
				size := int(sizeOf(environ{s}.Get(n.Param.Value)))
				if n.Repl != nil && n.Repl.With != nil {
					size *= 1 + s.weight(n.Repl.With)
				}
				s.owe(int64(min(size, maxVariable)))
				if budget -= size; budget < 0 {
					err = errTooLarge
				}
			}
			return err == nil
		})
	}
	return err
}

// weight is how long a word may become.
func (s *shell) weight(w *syntax.Word) int {
	size := 0
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			size += len(n.Value)
		case *syntax.SglQuoted:
			size += len(n.Value)
		case *syntax.CmdSubst:
			size += maxVariable
			return false
		case *syntax.ParamExp:
			if n.Param != nil {
				size += int(sizeOf(environ{s}.Get(n.Param.Value)))
			}
		}
		return true
	})
	return size
}

func (s *shell) fields(cfg *expand.Config, words ...*syntax.Word) ([]string, error) {
	if err := s.check(words...); err != nil {
		return nil, err
	}
	return expand.Fields(cfg, words...)
}

func (s *shell) literal(cfg *expand.Config, word *syntax.Word) (string, error) {
	if word == nil {
		return "", nil
	}
	if err := s.check(word); err != nil {
		return "", err
	}
	return expand.Literal(cfg, word)
}

func (s *shell) document(cfg *expand.Config, word *syntax.Word) (string, error) {
	if word == nil {
		return "", nil
	}
	if err := s.check(word); err != nil {
		return "", err
	}
	return expand.Document(cfg, word)
}

// failed reports an expansion that went wrong. A non-interactive shell ends with that.
func (s *shell) failed(err error) {
	var unset expand.UnsetParameterError
	switch {
	case errors.As(err, &unset):
		s.errorf("%s", unset.Message)
		s.fatal(1)
	default:
		s.errorf("%s", strings.TrimPrefix(Message(err), "expand: "))
		s.status = 1
	}
}
