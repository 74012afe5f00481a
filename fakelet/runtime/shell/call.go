package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// call runs a simple command: assignments, a function, a builtin or a program.
func (s *shell) call(ctx context.Context, c *syntax.CallExpr) {
	cfg := s.config(ctx)
	args, err := s.fields(cfg, c.Args...)
	if err != nil {
		s.failed(err)
		return
	}
	if len(args) == 0 {
		s.assignments(cfg, c)
		return
	}
	for _, a := range args {
		if len(a) > process.MaxArgument {
			s.errorf("%s: %s", args[0], process.ErrTooLong)
			s.status = 126
			return
		}
	}
	if s.opts.xtrace {
		fmt.Fprintf(s.p.Stderr, "+ %s\n", strings.Join(args, " "))
	}
	if len(c.Assigns) > 0 {
		restore, err := s.temporary(cfg, c.Assigns)
		defer restore()
		if err != nil {
			s.failed(err)
			return
		}
	}
	s.invoke(ctx, args)
}

func (s *shell) assignments(cfg *expand.Config, c *syntax.CallExpr) {
	s.status = 0
	for _, a := range c.Assigns {
		if err := s.assign(cfg, a, expand.Variable{}); err != nil {
			s.failed(err)
			return
		}
		if s.opts.xtrace {
			fmt.Fprintf(s.p.Stderr, "+ %s=%s\n", a.Name.Value, s.vars.Get(a.Name.Value))
		}
	}
}

// temporary sets variables for one command.
func (s *shell) temporary(cfg *expand.Config, assigns []*syntax.Assign) (restore func(), err error) {
	old := s.vars
	s.vars = &scope{outer: old, values: map[string]expand.Variable{}}
	restore = func() {
		for _, v := range s.vars.values {
			_ = s.weigh(-sizeOf(v))
		}
		s.vars = old
	}
	for _, a := range assigns {
		s.vars.values[a.Name.Value] = expand.Variable{Exported: true, Local: true}
		if err := s.assign(cfg, a, expand.Variable{Exported: true, Local: true}); err != nil {
			return restore, err
		}
	}
	return restore, nil
}

func (s *shell) invoke(ctx context.Context, args []string) {
	if body, ok := s.funcs[args[0]]; ok {
		s.function(ctx, body, args)
		return
	}
	if builtin, ok := s.builtins[args[0]]; ok {
		builtin(ctx, s, args)
		return
	}
	s.execute(ctx, args)
}

func (s *shell) function(ctx context.Context, body *syntax.Stmt, args []string) {
	params, vars, inFunc := s.params, s.vars, s.inFunc
	s.params, s.inFunc = args[1:], true
	s.vars = &scope{outer: vars, values: map[string]expand.Variable{}}
	s.nested(func() { s.stmt(ctx, body) })
	for _, v := range s.vars.values {
		_ = s.weigh(-sizeOf(v))
	}
	s.params, s.vars, s.inFunc = params, vars, inFunc
	if s.flow.kind == returning {
		s.flow = flow{}
	}
}

// execute runs a program in a process of its own.
func (s *shell) execute(ctx context.Context, args []string) {
	file, err := s.find(args[0])
	if err != nil {
		s.errorf("%s: %s", args[0], err)
		s.status = process.ExitCode(err)
		return
	}
	p := s.p.Like(args)
	p.Env = s.exported()
	child, err := s.p.Machine.Spawn(ctx, p, Load(s.p.Machine, file))
	if err != nil {
		s.errorf("%s", err)
		s.status = 2
		return
	}
	s.status = s.await(ctx, child)
	if errors.Is(context.Cause(ctx), context.Canceled) && ctx.Err() != nil {
		s.fatal(s.status)
	}
}

// find is the file of a command, by the shell's PATH.
func (s *shell) find(name string) (string, error) {
	finder := s.p.Like(s.p.Args)
	finder.Env = map[string]string{"PATH": s.vars.Get("PATH").String()}
	return finder.Find(name)
}

// Load returns the program of a file: one that is built in, or a script.
func Load(m process.Machine, file string) process.Program {
	if program, ok := m.Lookup(file); ok {
		return program
	}
	return func(ctx context.Context, p *process.Process) int {
		content, err := m.FS().ReadFile(file)
		if err != nil {
			p.Errorf("%s", Message(err))
			return 126
		}
		interpreter := []string{"/bin/sh"}
		if line, _, ok := strings.Cut(string(content), "\n"); ok && strings.HasPrefix(line, "#!") {
			interpreter = strings.Fields(line[2:])
			if len(interpreter) > 1 && strings.HasSuffix(interpreter[0], "/env") {
				interpreter = interpreter[1:]
			}
		}
		found, err := p.Find(interpreter[0])
		if err != nil {
			p.Errorf("%s: bad interpreter: %s", interpreter[0], "No such file or directory")
			return 127
		}
		p.Args = append(append(interpreter, file), p.Args[1:]...)
		program, ok := m.Lookup(found)
		if !ok {
			p.Errorf("cannot execute: %s", "required file not found")
			return 126
		}
		return program(ctx, p)
	}
}

// redirect opens what a statement redirects to; restore puts the streams back.
func (s *shell) redirect(ctx context.Context, redirects []*syntax.Redirect) (restore func(), err error) {
	if len(redirects) == 0 {
		return func() {}, nil
	}
	in, out, errs, files := s.p.Stdin, s.p.Stdout, s.p.Stderr, s.files
	s.files = map[int]any{}
	for n, f := range files {
		s.files[n] = f
	}
	restore = func() {
		if s.keepStreams() {
			return
		}
		s.p.Stdin, s.p.Stdout, s.p.Stderr, s.files = in, out, errs, files
	}
	cfg := s.config(ctx)
	for _, r := range redirects {
		if err := s.redirectOne(cfg, r); err != nil {
			return restore, err
		}
	}
	return restore, nil
}

// keepStreams is true right after exec without a command, whose redirections stay.
func (s *shell) keepStreams() bool {
	keep := s.execRedirects
	s.execRedirects = false
	return keep
}

func (s *shell) redirectOne(cfg *expand.Config, r *syntax.Redirect) error {
	fd := 1
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		fd = 0
	}
	if r.N != nil {
		n, err := strconv.Atoi(r.N.Value)
		if err != nil {
			return fmt.Errorf("%s: bad file descriptor", r.N.Value)
		}
		fd = n
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text, err := s.document(cfg, r.Hdoc)
		if err != nil {
			return err
		}
		s.setFile(fd, strings.NewReader(text))
		return nil
	case syntax.WordHdoc:
		text, err := s.literal(cfg, r.Word)
		if err != nil {
			return err
		}
		s.setFile(fd, strings.NewReader(text+"\n"))
		return nil
	}
	name, err := s.literal(cfg, r.Word)
	if err != nil {
		return err
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		return s.duplicate(fd, name)
	}
	file, err := s.open(name, r.Op)
	if err != nil {
		return fmt.Errorf("can't open %s: %s", name, strings.ToLower(Message(err)[:1])+Message(err)[1:])
	}
	if r.Op == syntax.RdrAll || r.Op == syntax.AppAll || r.Op == syntax.RdrAllClob {
		s.setFile(1, file)
		s.setFile(2, file)
		return nil
	}
	s.setFile(fd, file)
	return nil
}

// open opens a redirection's file. Those that name a stream are that stream.
func (s *shell) open(name string, op syntax.RedirOperator) (any, error) {
	path := s.p.Path(name)
	if stream, ok := s.stream(path); ok {
		return stream, nil
	}
	flags := 0
	switch op {
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.RdrAllClob:
		flags = vfs.Write | vfs.Create | vfs.Truncate
	case syntax.AppOut, syntax.AppAll:
		flags = vfs.Write | vfs.Create | vfs.Append
	case syntax.RdrInOut:
		flags = vfs.Write | vfs.Create
	}
	return s.p.Machine.FS().Open(path, flags)
}

func (s *shell) stream(path string) (any, bool) {
	switch path {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return s.p.Stdin, true
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return s.p.Stdout, true
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return s.p.Stderr, true
	case "/dev/tty":
		if s.p.TTY {
			return terminal{s.p.Stdin, s.p.Stdout}, true
		}
	case "/proc/1/fd/1", "/proc/1/fd/2":
		for _, p := range s.p.Machine.Processes() {
			if p.PID == 1 {
				return p.Stdout, true
			}
		}
	}
	return nil, false
}

type terminal struct {
	io.Reader
	io.Writer
}

func (s *shell) setFile(fd int, file any) {
	reader, _ := file.(io.Reader)
	writer, _ := file.(io.Writer)
	if reader == nil {
		reader = nothing{}
	}
	if writer == nil {
		writer = closed{}
	}
	switch fd {
	case 0:
		s.p.Stdin = reader
	case 1:
		s.p.Stdout = writer
	case 2:
		s.p.Stderr = writer
	default:
		s.files[fd] = file
	}
}

// duplicate carries out n>&m and n>&-.
func (s *shell) duplicate(fd int, name string) error {
	switch name {
	case "-":
		s.setFile(fd, struct{}{})
		delete(s.files, fd)
		return nil
	case "0":
		s.setFile(fd, s.p.Stdin)
		return nil
	case "1":
		s.setFile(fd, s.p.Stdout)
		return nil
	case "2":
		s.setFile(fd, s.p.Stderr)
		return nil
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return fmt.Errorf("%s: bad file descriptor", name)
	}
	file, ok := s.files[n]
	if !ok {
		return fmt.Errorf("%s: bad file descriptor", name)
	}
	s.setFile(fd, file)
	return nil
}

// closed is a stream that was closed.
type closed struct{}

// Write implements io.Writer.
func (closed) Write([]byte) (int, error) { return 0, errors.New("Bad file descriptor") }

// declare carries out export, readonly, local and declare.
func (s *shell) declare(ctx context.Context, c *syntax.DeclClause) {
	cfg := s.config(ctx)
	var attributes expand.Variable
	switch c.Variant.Value {
	case "export":
		attributes.Exported = true
	case "readonly":
		attributes.ReadOnly = true
	case "local":
		if !s.inFunc {
			s.errorf("local: not in a function")
			s.status = 1
			return
		}
		attributes.Local = true
	default: // declare, typeset
		attributes.Local = s.inFunc
	}
	s.status = 0
	listed := false
	for _, a := range c.Args {
		if a.Name == nil {
			fields, err := s.fields(cfg, a.Value)
			if err != nil {
				s.failed(err)
				return
			}
			for _, f := range fields {
				listed = s.declareField(f, &attributes) || listed
			}
			continue
		}
		listed = true
		if a.Naked && attributes.Local && !s.declaredHere(a.Name.Value) {
			v := attributes
			v.Set, v.Kind = v.Kind != expand.Associative && v.Kind != expand.Indexed, cmpKind(v.Kind)
			s.report(s.set(a.Name.Value, v))
			continue
		}
		s.report(s.assign(cfg, a, attributes))
	}
	if !listed {
		s.list(c.Variant.Value, attributes)
	}
}

func cmpKind(k expand.ValueKind) expand.ValueKind {
	if k == expand.Unknown {
		return expand.String
	}
	return k
}

func (s *shell) declaredHere(name string) bool {
	_, ok := s.vars.values[name]
	return ok
}

// declareField takes an option such as -x, or name=value that came of an expansion.
func (s *shell) declareField(f string, attributes *expand.Variable) (listed bool) {
	if strings.HasPrefix(f, "-") || strings.HasPrefix(f, "+") {
		for _, letter := range f[1:] {
			switch letter {
			case 'x':
				attributes.Exported = true
			case 'r':
				attributes.ReadOnly = true
			case 'a':
				attributes.Kind = expand.Indexed
			case 'A':
				attributes.Kind = expand.Associative
			case 'g':
				attributes.Local = false
			}
		}
		return false
	}
	name, value, ok := strings.Cut(f, "=")
	v := *attributes
	v.Set, v.Kind, v.Str = true, expand.String, value
	if !ok {
		v.Kind = expand.KeepValue
	}
	s.report(s.set(name, v))
	return true
}

func (s *shell) report(err error) {
	if err != nil {
		s.errorf("%s", err)
		s.status = 1
	}
}
