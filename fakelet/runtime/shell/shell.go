package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

const (
	// maxDepth bounds functions, substitutions and sourced files inside each other.
	maxDepth = 200
	// maxScript bounds a script, and with it how deep its syntax may nest.
	maxScript = 256 << 10
	// maxVariable bounds one variable, and what one expansion may make.
	maxVariable = 256 << 10
)

// shell is one shell process, or a subshell of one.
type shell struct {
	p        *process.Process
	vars     *scope
	funcs    map[string]*syntax.Stmt
	params   []string
	name     string // $0
	opts     options
	builtins map[string]builtin
	files    map[int]any // io.Reader or io.Writer beyond the first three

	status   int
	flow     flow
	loops    int // how many loops are open
	depth    int
	inFunc   bool
	tested   int // above 0, errexit does not apply
	traps    map[string]string
	inTrap   bool
	subshell bool
	jobs     []*process.Process
	lastJob  int
	random   uint32
	held     int64 // bytes that variables hold
	debt     int   // steps that are still to be charged

	optIndex, optLetter int // where getopts is

	execRedirects bool // redirections of this statement stay
}

type options struct {
	errexit, nounset, xtrace, pipefail, noglob, noexec, allexport bool
}

// flow is a jump that is under way.
type flow struct {
	kind  flowKind
	count int // loops still to leave
}

type flowKind int

const (
	none flowKind = iota
	breaking
	continuing
	returning
	exiting
)

// Main is the program sh: -c with a script, a file, or what comes in.
func Main(ctx context.Context, p *process.Process) int {
	s := newShell(p)
	args := p.Args[1:]
	script, interactive := "", false
	haveScript := false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		flags := args[0]
		args = args[1:]
		if flags == "--" {
			break
		}
		if strings.HasPrefix(flags, "--") {
			continue // --login, --norc and the like change nothing here
		}
		for i, c := range flags[1:] {
			switch c {
			case 'c':
				haveScript = true
			case 'i':
				interactive = true
			case 'l', 's':
			case 'o':
				if i == len(flags)-2 && len(args) > 0 {
					s.opts.set(args[0], flags[0] == '-')
					args = args[1:]
				}
			default:
				if !s.opts.setLetter(c, flags[0] == '-') {
					p.Errorf("invalid option -%c", c)
					return 2
				}
			}
		}
	}
	switch {
	case haveScript && len(args) == 0:
		p.Errorf("-c requires an argument")
		return 2
	case haveScript:
		script = args[0]
		if len(args) > 1 {
			s.name, s.params = args[1], args[2:]
		}
	case len(args) > 0:
		content, err := p.Machine.FS().ReadFile(p.Path(args[0]))
		if err != nil {
			p.Errorf("can't open '%s': %s", args[0], Message(err))
			return 2
		}
		s.name, s.params, script = args[0], args[1:], string(content)
	default:
		return s.read(ctx, interactive || p.TTY)
	}
	s.source(ctx, script)
	return s.end(ctx)
}

func newShell(p *process.Process) *shell {
	s := &shell{p: p, builtins: builtins(), name: p.Args[0], funcs: map[string]*syntax.Stmt{}, traps: map[string]string{}, files: map[int]any{}, random: uint32(p.PID) + 1}
	s.vars = newScope(p.Env)
	s.setDefault("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	s.setDefault("IFS", " \t\n")
	s.setString("PWD", p.Dir)
	return s
}

// source parses a script and runs it, a statement at a time, so that what comes
// before a syntax error is done.
func (s *shell) source(ctx context.Context, script string) {
	if len(script) > maxScript {
		s.errorf("%s", process.ErrTooLong)
		s.status = 2
		return
	}
	s.nested(func() {
		err := parser().Stmts(strings.NewReader(script), func(st *syntax.Stmt) bool {
			s.stmt(ctx, st)
			return s.flow.kind == none
		})
		if err != nil && s.flow.kind == none {
			s.errorf("syntax error: %s", parseMessage(err))
			s.status = 2
		}
	})
}

func parser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

func parseMessage(err error) string {
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		return fmt.Sprintf("line %d: %s", parse.Pos.Line(), parse.Text)
	}
	return err.Error()
}

// nested runs do unless too much is nested already.
func (s *shell) nested(do func()) {
	if s.depth >= maxDepth {
		s.errorf("maximum nesting level exceeded (%d)", maxDepth)
		s.status, s.flow = 1, flow{kind: exiting}
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	do()
}

// read runs what comes in, line by line, with a prompt on a terminal.
func (s *shell) read(ctx context.Context, prompt bool) int {
	if prompt {
		s.p.Handle(process.SIGINT, true)
		s.p.Handle(process.SIGTERM, true)
	}
	var pending strings.Builder
	for s.flow.kind == none {
		if prompt {
			mark := s.prompt("PS1", "\\w # ")
			if pending.Len() > 0 {
				mark = s.prompt("PS2", "> ")
			}
			fmt.Fprint(s.p.Stdout, mark)
		}
		line, err := readLine(s.p.Stdin)
		pending.WriteString(line)
		if pending.Len() > maxScript {
			s.errorf("%s", process.ErrTooLong)
			return 2
		}
		if err == nil && incomplete(pending.String()) {
			continue
		}
		if prompt {
			s.p.Pending() // Ctrl-C at the prompt
		}
		s.source(ctx, pending.String())
		if prompt && s.flow.kind != exiting {
			s.flow = flow{}
		}
		pending.Reset()
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	return s.end(ctx)
}

func (s *shell) prompt(name, otherwise string) string {
	mark := otherwise
	if v := s.vars.Get(name); v.IsSet() {
		mark = v.String()
	}
	return strings.NewReplacer(`\w`, s.p.Dir, `\h`, s.p.Machine.Hostname(), `\u`, "root", `\$`, "#", `\n`, "\n", `\s`, "sh", `\v`, "5.2").Replace(mark)
}

// incomplete tells whether a script needs more lines.
func incomplete(script string) bool {
	if strings.HasSuffix(script, "\\\n") {
		return true
	}
	_, err := parser().Parse(strings.NewReader(script), "")
	return err != nil && syntax.IsIncomplete(err)
}

// readLine reads up to a newline, byte by byte, so that what follows is left to
// other commands.
func readLine(r io.Reader) (string, error) {
	var line bytes.Buffer
	var b [1]byte
	for line.Len() < maxVariable {
		n, err := r.Read(b[:])
		if n > 0 {
			line.WriteByte(b[0])
			if b[0] == '\n' {
				return line.String(), nil
			}
		}
		if err != nil {
			return line.String(), err
		}
	}
	return line.String(), process.ErrTooLong
}

// end runs the EXIT trap and returns the code.
func (s *shell) end(ctx context.Context) int {
	s.interrupts(ctx)
	if trap, ok := s.traps["EXIT"]; ok && ctx.Err() == nil {
		delete(s.traps, "EXIT")
		status := s.status
		s.flow = flow{}
		s.source(ctx, trap)
		if s.flow.kind != exiting {
			s.status = status
		}
	}
	_ = s.p.Machine.Grow(-s.held)
	s.held = 0
	return s.status & 0xff
}

// interrupts runs the traps of signals that have come.
func (s *shell) interrupts(ctx context.Context) {
	if s.inTrap {
		return
	}
	for _, signal := range s.p.Pending() {
		script, ok := s.traps[signalName(signal)]
		if !ok || script == "" {
			continue
		}
		s.inTrap = true
		status := s.status
		s.source(ctx, script)
		if s.flow.kind != exiting {
			s.status = status
		}
		s.inTrap = false
	}
}

// sub is a copy of the shell for a subshell, with a process of its own.
func (s *shell) sub(p *process.Process) *shell {
	s.owe(int64(16 * len(s.vars.values)))
	c := *s
	c.p, c.subshell, c.jobs, c.held = p, true, nil, 0
	c.vars = s.vars.copy()
	c.funcs = maps.Clone(s.funcs)
	c.files = maps.Clone(s.files)
	c.traps = map[string]string{}
	c.flow = flow{}
	return &c
}

func (s *shell) errorf(format string, args ...any) {
	fmt.Fprintf(s.p.Stderr, s.name+": "+format+"\n", args...)
}

// fatal ends the shell.
func (s *shell) fatal(code int) {
	s.status, s.flow = code, flow{kind: exiting}
}
