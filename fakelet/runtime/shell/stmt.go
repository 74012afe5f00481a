package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
	"regexp"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

func (s *shell) stmts(ctx context.Context, list []*syntax.Stmt) {
	for _, st := range list {
		s.stmt(ctx, st)
		if s.flow.kind != none {
			return
		}
	}
}

// stmt runs one statement: it is charged first, and signals are seen to after it.
func (s *shell) stmt(ctx context.Context, st *syntax.Stmt) {
	debt := s.debt
	s.debt = 0
	if err := s.p.Machine.Use(ctx, 1+debt); err != nil {
		s.fatal(codeOf(err))
		return
	}
	if s.opts.noexec {
		return
	}
	switch {
	case st.Background || st.Disown || st.Coprocess:
		s.background(ctx, st)
	default:
		s.foreground(ctx, st)
	}
	s.interrupts(ctx)
	if ctx.Err() != nil {
		s.fatal(codeOf(context.Cause(ctx)))
	}
}

// codeOf is the exit code of a process that was made to end.
func codeOf(err error) int {
	var killed process.Killed
	if errors.As(err, &killed) {
		return 128 + int(killed.Signal)
	}
	return 1
}

func (s *shell) foreground(ctx context.Context, st *syntax.Stmt) {
	restore, err := s.redirect(ctx, st.Redirs)
	if err != nil {
		s.errorf("%s", err)
		s.status = 1
	} else {
		if st.Negated {
			s.tested++
		}
		if st.Cmd == nil {
			s.status = 0
		} else {
			s.nested(func() { s.command(ctx, st.Cmd) })
		}
		if st.Negated {
			s.tested--
		}
	}
	restore()
	if st.Negated {
		s.status = truth(s.status != 0)
		return
	}
	if _, ok := st.Cmd.(*syntax.BinaryCmd); s.status != 0 && s.tested == 0 && s.flow.kind == none && !isList(st.Cmd, ok) {
		s.checkError(ctx)
	}
}

// isList is true for && and ||, whose parts have been looked at.
func isList(cmd syntax.Command, binary bool) bool {
	if !binary {
		return false
	}
	op := cmd.(*syntax.BinaryCmd).Op
	return op == syntax.AndStmt || op == syntax.OrStmt
}

// checkError does what set -e and the ERR trap ask for.
func (s *shell) checkError(ctx context.Context) {
	if trap := s.traps["ERR"]; trap != "" && !s.inTrap {
		s.inTrap = true
		status := s.status
		s.source(ctx, trap)
		s.status, s.inTrap = status, false
	}
	if s.opts.errexit && s.flow.kind == none {
		s.fatal(s.status)
	}
}

func truth(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

func (s *shell) command(ctx context.Context, cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		s.call(ctx, c)
	case *syntax.Block:
		s.stmts(ctx, c.Stmts)
	case *syntax.Subshell:
		s.status = s.child(ctx, c.Stmts, nil, nil)
	case *syntax.BinaryCmd:
		s.binary(ctx, c)
	case *syntax.IfClause:
		s.ifClause(ctx, c)
	case *syntax.WhileClause:
		s.loop(ctx, func() bool { return s.test(ctx, c.Cond) != c.Until }, c.Do, nil)
	case *syntax.ForClause:
		s.forClause(ctx, c)
	case *syntax.CaseClause:
		s.caseClause(ctx, c)
	case *syntax.FuncDecl:
		s.funcs[c.Name.Value] = c.Body
		s.status = 0
	case *syntax.ArithmCmd:
		s.status = truth(s.arithm(ctx, c.X) != 0)
	case *syntax.LetClause:
		value := 0
		for _, x := range c.Exprs {
			value = s.arithm(ctx, x)
		}
		s.status = truth(value != 0)
	case *syntax.TestClause:
		ok, err := s.bashTest(ctx, c.X)
		s.status = truth(ok)
		if err != nil {
			s.errorf("%s", err)
			s.status = 2
		}
	case *syntax.DeclClause:
		s.declare(ctx, c)
	case *syntax.TimeClause:
		s.time(ctx, c)
	default:
		s.errorf("syntax error: unsupported construct")
		s.status = 2
	}
}

// test runs a condition, which may fail without consequences.
func (s *shell) test(ctx context.Context, cond []*syntax.Stmt) bool {
	s.tested++
	s.stmts(ctx, cond)
	s.tested--
	return s.status == 0 && s.flow.kind == none
}

func (s *shell) binary(ctx context.Context, c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		s.tested++
		s.stmt(ctx, c.X)
		s.tested--
		if s.flow.kind == none && (s.status == 0) == (c.Op == syntax.AndStmt) {
			s.stmt(ctx, c.Y)
		}
	case syntax.Pipe, syntax.PipeAll:
		s.pipeline(ctx, c)
	}
}

func (s *shell) ifClause(ctx context.Context, c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 || s.test(ctx, c.Cond) {
			s.stmts(ctx, c.Then)
			return
		}
		if s.flow.kind != none {
			return
		}
	}
	s.status = 0
}

// loop runs a body while cond holds, and next after each round.
func (s *shell) loop(ctx context.Context, cond func() bool, do []*syntax.Stmt, next func()) {
	s.loops++
	defer func() { s.loops-- }()
	status := 0
	for cond() {
		s.stmts(ctx, do)
		status = s.status
		if s.leaves() {
			break
		}
		if next != nil {
			next()
		}
		if err := s.p.Machine.Use(ctx, 1); err != nil {
			s.fatal(codeOf(err))
			return
		}
	}
	if s.flow.kind == none {
		s.status = status
	}
}

// leaves takes break and continue as far as they concern the innermost loop. It is
// true when that ends.
func (s *shell) leaves() bool {
	switch s.flow.kind {
	case breaking, continuing:
		if s.flow.count--; s.flow.count > 0 {
			return true
		}
		ends := s.flow.kind == breaking
		s.flow = flow{}
		return ends
	}
	return s.flow.kind != none
}

func (s *shell) forClause(ctx context.Context, c *syntax.ForClause) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		items := slices.Clone(s.params)
		if l.InPos.IsValid() {
			var err error
			if items, err = s.fields(s.config(ctx), l.Items...); err != nil {
				s.failed(err)
				return
			}
		}
		i := 0
		s.loop(ctx, func() bool {
			if i == len(items) {
				return false
			}
			s.setString(l.Name.Value, items[i])
			i++
			return true
		}, c.Do, nil)
		if i == 0 {
			s.status = 0
		}
	case *syntax.CStyleLoop:
		if l.Init != nil {
			s.arithm(ctx, l.Init)
		}
		s.loop(ctx, func() bool { return s.flow.kind == none && (l.Cond == nil || s.arithm(ctx, l.Cond) != 0) }, c.Do, func() {
			if l.Post != nil {
				s.arithm(ctx, l.Post)
			}
		})
	}
}

func (s *shell) caseClause(ctx context.Context, c *syntax.CaseClause) {
	cfg := s.config(ctx)
	word, err := s.literal(cfg, c.Word)
	if err != nil {
		s.failed(err)
		return
	}
	s.status = 0
	through := false
	for _, item := range c.Items {
		matched := through || slices.ContainsFunc(item.Patterns, func(w *syntax.Word) bool {
			p, err := expand.Pattern(cfg, w)
			return err == nil && match(p, word)
		})
		if !matched {
			continue
		}
		s.stmts(ctx, item.Stmts)
		if through = item.Op == syntax.Fallthrough; !through && item.Op != syntax.Resume {
			return
		}
	}
}

// match tells whether a shell pattern fits a whole text.
func match(p, text string) bool {
	expr, err := pattern.Regexp(p, pattern.EntireString|pattern.ExtendedOperators)
	if err != nil {
		return false
	}
	compiled, err := regexp.Compile(expr)
	return err == nil && compiled.MatchString(text)
}

func (s *shell) arithm(ctx context.Context, x syntax.ArithmExpr) int {
	n, err := expand.Arithm(s.config(ctx), x)
	if err != nil {
		s.failed(err)
		s.flow = flow{kind: exiting}
	}
	return n
}

func (s *shell) time(ctx context.Context, c *syntax.TimeClause) {
	clock := s.p.Machine.Clock()
	start := clock.Now()
	if c.Stmt != nil {
		s.stmt(ctx, c.Stmt)
	}
	took := clock.Since(start)
	fmt.Fprintf(s.p.Stderr, "\nreal\t%dm%.3fs\nuser\t0m0.000s\nsys\t0m0.000s\n", int(took.Minutes()), took.Seconds()-60*float64(int(took.Minutes())))
}

// child runs statements in a subshell and waits for it.
func (s *shell) child(ctx context.Context, list []*syntax.Stmt, in io.Reader, out io.Writer) int {
	child, err := s.fork(ctx, in, out, nil, func(ctx context.Context, c *shell) { c.stmts(ctx, list) })
	if err != nil {
		s.errorf("%s", err)
		return 2
	}
	return s.await(ctx, child)
}

// fork starts a subshell.
func (s *shell) fork(ctx context.Context, in io.Reader, out, errs io.Writer, run func(context.Context, *shell)) (*process.Process, error) {
	p := s.p.Like(s.p.Args)
	if in != nil {
		p.Stdin = in
	}
	if out != nil {
		p.Stdout = out
	}
	if errs != nil {
		p.Stderr = errs
	}
	// The copy is made here: the parent goes on while the child runs.
	c := s.sub(p)
	return s.p.Machine.Spawn(ctx, p, func(ctx context.Context, p *process.Process) int {
		run(ctx, c)
		return c.end(ctx)
	})
}

// await waits for a child, which ends with the shell.
func (s *shell) await(ctx context.Context, child *process.Process) int {
	select {
	case <-child.Done():
		return child.Code()
	case <-ctx.Done():
		return codeOf(context.Cause(ctx))
	}
}

// background starts a statement and goes on.
func (s *shell) background(ctx context.Context, st *syntax.Stmt) {
	later := *st
	later.Background, later.Disown, later.Coprocess = false, false, false
	// It outlives the shell, but not the container.
	child, err := s.fork(s.p.Machine.Context(), nothing{}, nil, nil, func(ctx context.Context, c *shell) { c.stmt(ctx, &later) })
	if err != nil {
		s.errorf("%s", err)
		s.status = 2
		return
	}
	s.jobs = append(slices.DeleteFunc(s.jobs, func(j *process.Process) bool {
		select {
		case <-j.Done():
			return len(s.jobs) > 64
		default:
			return false
		}
	}), child)
	s.lastJob, s.status = child.PID, 0
}

// nothing is a reader at its end.
type nothing struct{}

// Read implements io.Reader.
func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// pipeline runs the commands of a | b | c, each in a subshell.
func (s *shell) pipeline(ctx context.Context, c *syntax.BinaryCmd) {
	parts, all := flatten(c)
	var children []*process.Process
	var in io.Reader
	for i, part := range parts {
		var out io.Writer
		var next *io.PipeReader
		var writer *io.PipeWriter
		if i < len(parts)-1 {
			next, writer = io.Pipe()
			out = writer
		}
		var errs io.Writer
		if i < len(parts)-1 && all[i] {
			errs = out
		}
		reader := in
		child, err := s.fork(ctx, in, out, errs, func(ctx context.Context, c *shell) {
			defer closeEnds(reader, writer)
			stop := context.AfterFunc(ctx, func() { closeEnds(reader, writer) })
			defer stop()
			c.stmt(ctx, part)
		})
		if err != nil {
			closeEnds(in, writer)
			s.errorf("%s", err)
			s.status = 2
			break
		}
		children = append(children, child)
		in = nil
		if next != nil {
			in = next
		}
	}
	if reader, ok := in.(*io.PipeReader); ok {
		_ = reader.Close()
	}
	failed := 0
	for _, child := range children {
		s.status = s.await(ctx, child)
		if s.status != 0 {
			failed = s.status
		}
	}
	if s.opts.pipefail && failed != 0 {
		s.status = failed
	}
}

func closeEnds(in io.Reader, out *io.PipeWriter) {
	if reader, ok := in.(*io.PipeReader); ok {
		_ = reader.CloseWithError(process.Killed{Signal: process.SIGPIPE})
	}
	if out != nil {
		_ = out.Close()
	}
}

// flatten lists the commands of a pipeline, and which send their errors along.
func flatten(c *syntax.BinaryCmd) (parts []*syntax.Stmt, all []bool) {
	if left, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && (left.Op == syntax.Pipe || left.Op == syntax.PipeAll) && len(c.X.Redirs) == 0 && !c.X.Negated {
		parts, all = flatten(left)
	} else {
		parts = []*syntax.Stmt{c.X}
	}
	return append(parts, c.Y), append(all, c.Op == syntax.PipeAll)
}
