package shell

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

type builtin = func(ctx context.Context, s *shell, args []string)

// builtins are the commands that act on the shell itself, by name.
var builtins = sync.OnceValue(func() map[string]builtin {
	return map[string]builtin{
		":": succeed, "true": succeed, "false": func(_ context.Context, s *shell, _ []string) { s.status = 1 },
		"exit": exit, "return": leave, "break": jump, "continue": jump, "cd": cd, "pwd": pwd, "eval": eval,
		".": dot, "source": dot, "exec": exec, "set": set, "shift": shift, "unset": unset, "read": read,
		"trap": trap, "wait": wait, "type": kindOf, "command": command, "builtin": command, "export": declareWords,
		"readonly": declareWords, "local": declareWords, "declare": declareWords, "test": test, "[": test,
		"getopts": getopts, "umask": umask, "ulimit": ulimit, "shopt": succeed, "hash": succeed, "jobs": jobs, "kill": kill,
		"mapfile": mapfile, "readarray": mapfile, "printf": printf, "times": succeed, "alias": succeed, "fg": succeed, "bg": succeed, "disown": succeed,
		"let": let,
	}
})

func succeed(_ context.Context, s *shell, _ []string) { s.status = 0 }

func exit(_ context.Context, s *shell, args []string) {
	code := s.status
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			s.errorf("exit: Illegal number: %s", args[1])
			n = 2
		}
		code = n & 0xff
	}
	s.fatal(code)
}

func leave(_ context.Context, s *shell, args []string) {
	if len(args) > 1 {
		s.status, _ = strconv.Atoi(args[1])
	}
	s.flow = flow{kind: returning}
}

func jump(_ context.Context, s *shell, args []string) {
	n := 1
	if len(args) > 1 {
		n, _ = strconv.Atoi(args[1])
	}
	s.status = 0
	if s.loops == 0 || n < 1 {
		return
	}
	kind := breaking
	if args[0] == "continue" {
		kind = continuing
	}
	s.flow = flow{kind: kind, count: min(n, s.loops)}
}

func cd(_ context.Context, s *shell, args []string) {
	target := s.vars.Get("HOME").String()
	if len(args) > 1 {
		target = args[1]
	}
	if target == "-" {
		target = s.vars.Get("OLDPWD").String()
		s.p.Printf("%s\n", target)
	}
	if target == "" {
		target = "/"
	}
	dir := s.p.Path(target)
	info, err := s.p.Machine.FS().Stat(dir)
	switch {
	case err != nil:
		s.errorf("cd: can't cd to %s: %s", target, Message(err))
		s.status = 2
		return
	case !info.IsDir():
		s.errorf("cd: can't cd to %s: Not a directory", target)
		s.status = 2
		return
	}
	s.setString("OLDPWD", s.p.Dir)
	s.p.Dir, s.status = dir, 0
	s.setString("PWD", dir)
}

func pwd(_ context.Context, s *shell, _ []string) {
	s.p.Printf("%s\n", s.p.Dir)
	s.status = 0
}

func eval(ctx context.Context, s *shell, args []string) {
	s.status = 0
	s.source(ctx, strings.Join(args[1:], " "))
}

func dot(ctx context.Context, s *shell, args []string) {
	if len(args) < 2 {
		s.errorf("%s: filename argument required", args[0])
		s.status = 2
		return
	}
	content, err := s.p.Machine.FS().ReadFile(s.p.Path(args[1]))
	if err != nil {
		s.errorf("%s: can't open '%s': %s", args[0], args[1], Message(err))
		s.fatal(2)
		return
	}
	params := s.params
	if len(args) > 2 {
		s.params = args[2:]
	}
	s.status = 0
	s.source(ctx, string(content))
	s.params = params
	if s.flow.kind == returning {
		s.flow = flow{}
	}
}

func exec(ctx context.Context, s *shell, args []string) {
	if len(args) == 1 {
		s.execRedirects, s.status = true, 0
		return
	}
	if args[1] == "--" {
		args = args[1:]
	}
	s.execute(ctx, args[1:])
	delete(s.traps, "EXIT")
	s.fatal(s.status)
}

func (o *options) letters() string {
	var b strings.Builder
	for letter, on := range map[rune]bool{'e': o.errexit, 'u': o.nounset, 'x': o.xtrace, 'f': o.noglob, 'a': o.allexport} {
		if on {
			b.WriteRune(letter)
		}
	}
	return b.String()
}

func (o *options) setLetter(letter rune, on bool) bool {
	switch letter {
	case 'e':
		o.errexit = on
	case 'u':
		o.nounset = on
	case 'x':
		o.xtrace = on
	case 'f':
		o.noglob = on
	case 'n':
		o.noexec = on
	case 'a':
		o.allexport = on
	case 'v', 'h', 'm', 'b', 'B', 'C', 'E', 'T':
	default:
		return false
	}
	return true
}

func (o *options) set(name string, on bool) bool {
	switch name {
	case "errexit":
		o.errexit = on
	case "nounset":
		o.nounset = on
	case "xtrace":
		o.xtrace = on
	case "noglob":
		o.noglob = on
	case "pipefail":
		o.pipefail = on
	case "allexport":
		o.allexport = on
	case "posix", "errtrace", "functrace", "monitor", "vi", "emacs":
	default:
		return false
	}
	return true
}

func set(_ context.Context, s *shell, args []string) {
	s.status = 0
	args = args[1:]
	if len(args) == 0 {
		s.list("set", expand.Variable{})
		return
	}
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		flags := args[0]
		args = args[1:]
		if flags == "--" {
			s.params = slices.Clone(args)
			return
		}
		for i, letter := range flags[1:] {
			ok := true
			if letter == 'o' && i == len(flags)-2 {
				if len(args) == 0 {
					return
				}
				ok = s.opts.set(args[0], flags[0] == '-')
				args = args[1:]
			} else {
				ok = s.opts.setLetter(letter, flags[0] == '-')
			}
			if !ok {
				s.errorf("set: illegal option %s", flags)
				s.fatal(2)
				return
			}
		}
	}
	if len(args) > 0 {
		s.params = slices.Clone(args)
	}
}

// list prints variables as commands that set them again.
func (s *shell) list(word string, attributes expand.Variable) {
	all := s.vars.copy().values
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		if !v.Set || attributes.Exported && !v.Exported || attributes.ReadOnly && !v.ReadOnly {
			continue
		}
		prefix := ""
		if word != "set" {
			prefix = word + " "
		}
		quoted, err := syntax.Quote(v.String(), syntax.LangPOSIX)
		if err != nil {
			quoted = "''"
		}
		s.p.Printf("%s%s=%s\n", prefix, name, quoted)
	}
}

func shift(_ context.Context, s *shell, args []string) {
	n := 1
	if len(args) > 1 {
		n, _ = strconv.Atoi(args[1])
	}
	if n < 0 || n > len(s.params) {
		s.errorf("shift: can't shift that many")
		s.status = 1
		return
	}
	s.params, s.status = s.params[n:], 0
}

func unset(_ context.Context, s *shell, args []string) {
	s.status = 0
	functions := false
	for _, name := range args[1:] {
		switch {
		case name == "-f":
			functions = true
		case name == "-v":
		case functions:
			delete(s.funcs, name)
		case strings.HasSuffix(name, "]"):
			s.unsetElement(name)
		default:
			if _, ok := s.funcs[name]; ok && !s.vars.Get(name).IsSet() {
				delete(s.funcs, name)
				continue
			}
			s.unsetVariable(name)
		}
	}
}

func (s *shell) unsetVariable(name string) {
	owner := s.vars.owner(name)
	v, ok := owner.values[name]
	switch {
	case v.ReadOnly:
		s.report(fmt.Errorf("%s: %w", name, errReadOnly))
	case ok:
		_ = s.weigh(-sizeOf(v))
		delete(owner.values, name)
	}
}

func (s *shell) unsetElement(name string) {
	base, index, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	v := s.vars.Get(base)
	switch v.Kind {
	case expand.Associative:
		v.Map = maps.Clone(v.Map)
		delete(v.Map, index)
	case expand.Indexed:
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(v.List) {
			return
		}
		v.List = slices.Delete(slices.Clone(v.List), i, i+1)
	}
	s.report(s.set(base, v))
}

func trap(_ context.Context, s *shell, args []string) {
	s.status = 0
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] == "-p" {
		for _, name := range slices.Sorted(maps.Keys(s.traps)) {
			s.p.Printf("trap -- '%s' %s\n", s.traps[name], name)
		}
		return
	}
	script, names := args[0], args[1:]
	if len(names) == 0 { // trap SIGNAL: back to the default
		script, names = "-", args
	}
	for _, name := range names {
		key := strings.TrimPrefix(strings.ToUpper(name), "SIG")
		if key == "0" {
			key = "EXIT"
		}
		signal, err := process.ParseSignal(key)
		pseudo := key == "EXIT" || key == "ERR" || key == "DEBUG" || key == "RETURN"
		if err != nil && !pseudo {
			s.errorf("trap: %s: invalid signal specification", name)
			s.status = 1
			continue
		}
		if !pseudo {
			key = signalName(signal)
			s.p.Handle(signal, script != "-")
		}
		if script == "-" {
			delete(s.traps, key)
		} else {
			s.traps[key] = script
		}
	}
}

func wait(ctx context.Context, s *shell, args []string) {
	s.status = 0
	if len(args) == 1 || args[1] == "-n" {
		for _, job := range s.jobs {
			if s.waitFor(ctx, job); s.status > 128 && !ended(job) {
				return
			}
		}
		if len(args) == 1 {
			s.jobs, s.status = nil, 0
		}
		return
	}
	for _, arg := range args[1:] {
		pid, err := strconv.Atoi(strings.TrimPrefix(arg, "%"))
		i := slices.IndexFunc(s.jobs, func(j *process.Process) bool { return j.PID == pid })
		if err != nil || i < 0 {
			s.status = 127
			continue
		}
		s.waitFor(ctx, s.jobs[i])
	}
}

func ended(p *process.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// waitFor waits for a job, or a signal that has a trap.
func (s *shell) waitFor(ctx context.Context, job *process.Process) {
	select {
	case <-job.Done():
		s.status = job.Code()
	case <-s.p.Woken():
		s.status = 128 + int(process.SIGTERM)
	case <-ctx.Done():
		s.fatal(codeOf(context.Cause(ctx)))
	}
}

func jobs(_ context.Context, s *shell, args []string) {
	for i, job := range s.jobs {
		if ended(job) {
			continue
		}
		if slices.Contains(args, "-p") {
			s.p.Printf("%d\n", job.PID)
			continue
		}
		s.p.Printf("[%d]+  Running                 %s\n", i+1, strings.Join(job.Args, " "))
	}
	s.status = 0
}

func kill(_ context.Context, s *shell, args []string) {
	s.status = 0
	signal, args := process.SIGTERM, args[1:]
	if len(args) > 0 && args[0] == "-l" {
		s.p.Printf("HUP INT QUIT KILL USR1 USR2 PIPE ALRM TERM\n")
		return
	}
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name := args[0][1:]
		args = args[1:]
		if name == "s" && len(args) > 0 {
			name, args = args[0], args[1:]
		}
		n, err := process.ParseSignal(name)
		if err != nil {
			s.report(fmt.Errorf("kill: %w", err))
			return
		}
		signal = n
	}
	if len(args) == 0 {
		s.errorf("kill: usage: kill [-s sigspec | -sigspec] pid...")
		s.status = 2
	}
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if job, ok := strings.CutPrefix(arg, "%"); ok {
			if n, convErr := strconv.Atoi(job); convErr == nil && n > 0 && n <= len(s.jobs) {
				pid, err = s.jobs[n-1].PID, nil
			}
		}
		if err == nil {
			err = s.p.Machine.Kill(pid, signal)
		}
		if err != nil {
			s.errorf("kill: can't kill pid %s: No such process", arg)
			s.status = 1
		}
	}
}

func kindOf(_ context.Context, s *shell, args []string) {
	s.status = 0
	for _, name := range args[1:] {
		if name == "-t" || name == "-p" {
			continue
		}
		s.describe(name, true)
	}
}

// describe says what a command is: with words, or as command -v does.
func (s *shell) describe(name string, words bool) {
	_, function := s.funcs[name]
	_, builtIn := s.builtins[name]
	file, err := s.find(name)
	switch {
	case function && words:
		s.p.Printf("%s is a function\n", name)
	case builtIn && words:
		s.p.Printf("%s is a shell builtin\n", name)
	case function, builtIn:
		s.p.Printf("%s\n", name)
	case err == nil && words:
		s.p.Printf("%s is %s\n", name, file)
	case err == nil:
		s.p.Printf("%s\n", file)
	default:
		s.status = 127
		if words {
			s.errorf("%s: not found", name)
		}
	}
}

func command(ctx context.Context, s *shell, args []string) {
	name := args[0]
	args = args[1:]
	s.status = 0
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flag := args[0]
		args = args[1:]
		switch flag {
		case "-v", "-V":
			for _, a := range args {
				s.describe(a, flag == "-V")
			}
			return
		}
	}
	if len(args) == 0 {
		return
	}
	if b, ok := s.builtins[args[0]]; ok {
		b(ctx, s, args)
		return
	}
	if name == "command" {
		s.execute(ctx, args)
	}
}

// declareWords is for export and the like when they are not seen by the parser,
// as after command.
func declareWords(_ context.Context, s *shell, args []string) {
	s.status = 0
	attributes := expand.Variable{Exported: args[0] == "export", ReadOnly: args[0] == "readonly", Local: s.inFunc && args[0] != "export" && args[0] != "readonly"}
	for _, a := range args[1:] {
		s.declareField(a, &attributes)
	}
}

func getopts(_ context.Context, s *shell, args []string) {
	if len(args) < 3 {
		s.status = 2
		return
	}
	spec, name, list := args[1], args[2], s.params
	if len(args) > 3 {
		list = args[3:]
	}
	index, _ := strconv.Atoi(s.vars.Get("OPTIND").String())
	index = max(index, 1)
	if index != s.optIndex {
		s.optIndex, s.optLetter = index, 1
	}
	done := func() {
		s.setString(name, "?")
		s.status = 1
	}
	if index > len(list) || len(list[index-1]) < 2 || list[index-1][0] != '-' {
		done()
		return
	}
	if list[index-1] == "--" {
		s.setString("OPTIND", strconv.Itoa(index+1))
		done()
		return
	}
	word := list[index-1]
	letter := word[s.optLetter : s.optLetter+1]
	s.optLetter++
	next := s.optLetter >= len(word)
	at := strings.Index(strings.TrimPrefix(spec, ":"), letter)
	trimmed := strings.TrimPrefix(spec, ":")
	s.status = 0
	switch {
	case at < 0 || letter == ":":
		s.setString(name, "?")
		s.setString("OPTARG", letter)
		if spec == trimmed {
			s.errorf("Illegal option -%s", letter)
		}
	case at+1 < len(trimmed) && trimmed[at+1] == ':':
		s.setString(name, letter)
		switch {
		case !next:
			s.setString("OPTARG", word[s.optLetter:])
		case index < len(list):
			s.setString("OPTARG", list[index])
			index++
		default:
			s.setString(name, "?")
			if spec != trimmed {
				s.setString(name, ":")
			} else {
				s.errorf("No arg for -%s option", letter)
			}
			s.setString("OPTARG", letter)
		}
		next = true
	default:
		s.setString(name, letter)
		s.unsetVariable("OPTARG")
	}
	if next {
		index++
		s.optLetter = 1
	}
	s.optIndex = index
	s.setString("OPTIND", strconv.Itoa(index))
}

func umask(_ context.Context, s *shell, args []string) {
	if len(args) == 1 {
		s.p.Printf("0022\n")
	}
	s.status = 0
}

func ulimit(_ context.Context, s *shell, args []string) {
	if len(args) < 3 {
		s.p.Printf("unlimited\n")
	}
	s.status = 0
}

func let(ctx context.Context, s *shell, args []string) {
	s.status = 1
	for _, a := range args[1:] {
		x, err := parser().Arithmetic(strings.NewReader(a))
		if err != nil || x == nil {
			s.errorf("let: %s: syntax error", a)
			return
		}
		s.status = truth(s.arithm(ctx, x) != 0)
	}
}

// read reads a line into variables.
func read(ctx context.Context, s *shell, args []string) {
	raw, array := false, ""
	args = args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && len(args[0]) > 1 {
		flags := args[0][1:]
		args = args[1:]
		for i, f := range flags {
			value := func() string {
				if i+1 < len(flags) {
					return flags[i+1:]
				}
				if len(args) == 0 {
					return ""
				}
				v := args[0]
				args = args[1:]
				return v
			}
			switch f {
			case 'r':
				raw = true
				continue
			case 's', 'e':
				continue
			case 'p':
				fmt.Fprint(s.p.Stderr, value())
			case 'a':
				array = value()
			default: // -t, -n, -d: the whole line is read anyway
				value()
			}
			break
		}
	}
	line, err := s.readLogical(ctx, raw)
	s.status = truth(err == nil)
	cfg := s.config(ctx)
	if array != "" {
		s.report(s.set(array, expand.Variable{Set: true, Kind: expand.Indexed, List: expand.ReadFields(cfg, line, -1, raw)}))
		return
	}
	if len(args) == 0 {
		s.setString("REPLY", line)
		return
	}
	values := expand.ReadFields(cfg, line, len(args), raw)
	for i, name := range args {
		value := ""
		if i < len(values) {
			value = values[i]
		}
		s.setString(name, value)
	}
}

// readLogical reads a line; unless raw, one that ends in a backslash goes on.
func (s *shell) readLogical(ctx context.Context, raw bool) (string, error) {
	var whole string
	for {
		line, err := readLine(s.p.Stdin)
		if useErr := s.p.Machine.Use(ctx, 1+len(line)/1024); useErr != nil {
			return whole, useErr
		}
		line = strings.TrimSuffix(line, "\n")
		whole += line
		if raw || !strings.HasSuffix(line, `\`) || err != nil || len(whole) > maxVariable {
			return whole, err
		}
		whole = strings.TrimSuffix(whole, `\`)
	}
}

func mapfile(ctx context.Context, s *shell, args []string) {
	name, trim := "MAPFILE", false
	for _, a := range args[1:] {
		switch {
		case a == "-t":
			trim = true
		case !strings.HasPrefix(a, "-"):
			name = a
		}
	}
	var lines []string
	for {
		line, err := readLine(s.p.Stdin)
		if useErr := s.p.Machine.Use(ctx, 1); useErr != nil {
			return
		}
		if trim {
			line = strings.TrimSuffix(line, "\n")
		}
		if line != "" || err == nil {
			lines = append(lines, line)
		}
		if err != nil || len(lines) > maxVariable/16 {
			break
		}
	}
	s.status = 0
	s.report(s.set(name, expand.Variable{Set: true, Kind: expand.Indexed, List: lines}))
}

// printf is the program of that name, but for -v.
func printf(ctx context.Context, s *shell, args []string) {
	name := ""
	if len(args) > 2 && args[1] == "-v" {
		name = args[2]
		args = append([]string{args[0]}, args[3:]...)
	}
	if name == "" {
		s.status = Printf(s.p, args)
		return
	}
	var out limited
	p := s.p.Like(args)
	p.Stdout = &out
	s.status = Printf(p, args)
	data, err := out.take()
	s.report(err)
	s.setString(name, string(data))
}
