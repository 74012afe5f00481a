package runtime

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubesim/kubesim/fakelet/runtime/tools"
)

// Kind is how a container runs.
type Kind int

// The kinds of a plan.
const (
	Server Kind = iota // lives on, and answers on its ports
	Timed              // ends after a time with a code
	Script             // is interpreted
	Broken             // can't be started
)

// Plan is what a container will do.
type Plan struct {
	Kind  Kind
	After time.Duration // Timed: when it ends; Forever for one that does not
	Code  int32
	Argv  []string
	image image
	ports []int // that the manifest names
	// programs are the commands of a script in an image that nobody knows. Each
	// does its work in no time, but for main, the last one, which is a server.
	programs []string
	main     string
}

// Forever is the time after which an endless command ends.
const Forever = 1 << 62

// Request is what a plan is made of.
type Request struct {
	Image         string // as imageName gives it
	Command, Args []string
	Ports         []int
	// Job is true for a container that is expected to end: a program that is not
	// known does its work in no time, rather than being a server.
	Job bool
	// Stdin is true when the container has a standard input.
	Stdin bool
	// Env are variables that decide how some images start.
	Env func(name string) string
}

// PlanOf decides what a container does. ENTRYPOINT and CMD of the image hold as
// far as command and args don't take their place.
func PlanOf(r Request) Plan {
	img := imageOf(r.Image)
	argv := slices.Concat(r.Command, r.Args)
	if len(r.Command) == 0 {
		args := img.cmd
		if len(r.Args) > 0 {
			args = r.Args
		}
		argv = slices.Concat(img.entrypoint, args)
	}
	p := Plan{Argv: argv, image: img, ports: r.Ports}
	own := len(r.Command) == 0 && (len(r.Args) == 0 || len(img.entrypoint) > 0)
	if missing := img.requires; own && missing != nil {
		if message := missing(r.Env); message != "" {
			p.Kind, p.Argv = Script, []string{"sh", "-c", "echo \"$0\" >&2; exit 1", message}
			return p
		}
	}
	switch {
	case len(argv) == 0:
		p.Argv = []string{"/app"}
		p.unknown(r)
	case img.isServer(argv):
		p.Kind = Server
	default:
		p.command(r)
	}
	return p
}

// unknown is the plan of a program that nobody knows.
func (p *Plan) unknown(r Request) {
	if r.Job {
		p.Kind = Timed
		return
	}
	p.Kind = Server
}

func (p *Plan) command(r Request) {
	name := path.Base(p.Argv[0])
	program, known := tools.All()[name]
	switch {
	case !known && (p.image.tools || strings.HasPrefix(p.Argv[0], "/bin/") && p.image.name != ""):
		p.Kind = Broken
	case !known || program == nil || p.image.lacks(name):
		p.unknown(r)
	case isShell(name):
		p.shell(r)
	default:
		if after, code, ok := timed(p.Argv); ok {
			p.Kind, p.After, p.Code = Timed, after, code
			return
		}
		p.Kind = Script
	}
}

func isShell(name string) bool { return slices.Contains([]string{"sh", "bash", "ash", "dash"}, name) }

// shell looks at a script: one that only sleeps and exits needs no interpreter.
func (p *Plan) shell(r Request) {
	p.Kind = Script
	if len(p.Argv) == 1 && !r.Stdin {
		p.Kind = Timed // it reads nothing, and ends
		return
	}
	if len(p.Argv) < 3 || !strings.HasSuffix(p.Argv[1], "c") || !strings.HasPrefix(p.Argv[1], "-") {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(p.Argv[2]), "")
	if err != nil {
		return
	}
	if after, code, ok := timedScript(file.Stmts); ok {
		p.Kind, p.After, p.Code = Timed, after, code
		return
	}
	if p.image.name == "" {
		p.programs = programs(file)
		if !r.Job {
			p.main = lastCommand(file.Stmts)
		}
	}
}

// timed is when a command ends, if that can be seen.
func timed(argv []string) (after time.Duration, code int32, ok bool) {
	switch name := path.Base(argv[0]); name {
	case "true", ":":
		return 0, 0, true
	case "false":
		return 0, 1, true
	case "sleep":
		if len(argv) == 2 {
			d, ok := tools.Duration(argv[1])
			if d > 50*365*24*time.Hour {
				d = Forever
			}
			return d, 0, ok
		}
	case "tail":
		if slices.Equal(argv[1:], []string{"-f", "/dev/null"}) || slices.Equal(argv[1:], []string{"-F", "/dev/null"}) {
			return Forever, 0, true
		}
	}
	return 0, 0, false
}

// timedScript adds up statements that only wait and end.
func timedScript(stmts []*syntax.Stmt) (after time.Duration, code int32, ok bool) {
	for _, st := range stmts {
		if st.Background || st.Negated || len(st.Redirs) > 0 || st.Coprocess || st.Disown {
			return 0, 0, false
		}
		switch c := st.Cmd.(type) {
		case *syntax.CallExpr:
			argv, plain := words(c)
			if !plain {
				return 0, 0, false
			}
			if argv[0] == "exit" && len(argv) < 3 {
				if len(argv) == 2 {
					n, err := strconv.Atoi(argv[1])
					return after, int32(n & 0xff), err == nil
				}
				return after, code, true
			}
			d, result, seen := timed(argv)
			if !seen {
				return 0, 0, false
			}
			code = result
			if after += d; d == Forever {
				return Forever, 0, true
			}
		case *syntax.WhileClause:
			return Forever, 0, idleLoop(c)
		default:
			return 0, 0, false
		}
	}
	return after, code, len(stmts) > 0
}

// idleLoop is true for while true; do sleep 5; done.
func idleLoop(c *syntax.WhileClause) bool {
	_, code, ok := timedScript(c.Cond)
	if !ok || (code == 0) == c.Until {
		return false
	}
	after, _, ok := timedScript(c.Do)
	return ok && after > 0 && !exits(c.Do)
}

func exits(stmts []*syntax.Stmt) bool {
	return slices.ContainsFunc(stmts, func(st *syntax.Stmt) bool {
		c, ok := st.Cmd.(*syntax.CallExpr)
		return ok && len(c.Args) > 0 && c.Args[0].Lit() == "exit"
	})
}

// words are a command's, if all of them are literal.
func words(c *syntax.CallExpr) ([]string, bool) {
	var argv []string
	for _, w := range c.Args {
		text := w.Lit()
		if text == "" || strings.ContainsAny(text, `\*?[{~`) {
			return nil, false
		}
		argv = append(argv, text)
	}
	return argv, len(argv) > 0 && len(c.Assigns) == 0
}

// programs are the commands that a script calls by a plain name.
func programs(file *syntax.File) []string {
	var names []string
	functions := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			functions[n.Name.Value] = true
		case *syntax.CallExpr:
			words := n.Args
			if len(words) > 1 && words[0].Lit() == "exec" {
				words = words[1:]
			}
			if len(words) > 0 {
				names = append(names, words[0].Lit())
			}
		}
		return true
	})
	return slices.DeleteFunc(names, func(name string) bool {
		_, tool := tools.All()[path.Base(name)]
		return name == "" || tool || functions[name] || strings.ContainsAny(name, `$*?[\`)
	})
}

// lastCommand is the program that a script ends with, "" if that is not plain.
func lastCommand(stmts []*syntax.Stmt) string {
	if len(stmts) == 0 {
		return ""
	}
	switch c := stmts[len(stmts)-1].Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return ""
		}
		if name := c.Args[0].Lit(); name != "exec" || len(c.Args) == 1 {
			return name
		}
		return c.Args[1].Lit()
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return lastCommand([]*syntax.Stmt{c.Y})
		}
	}
	return ""
}
