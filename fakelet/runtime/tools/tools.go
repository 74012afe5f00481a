// Package tools has the programs that a simulated container finds in /bin: own,
// small versions of the usual ones of busybox, with the options that scripts in
// manifests use. They see what process.Machine gives them and nothing else.
//
// Each line or block that a tool handles is charged as CPU time, so that an
// endless one is slowed down and ends with its container.
package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/shell"
)

// maxLine bounds what a tool keeps in memory of one line.
const maxLine = 256 << 10

// All are the programs by name.
var All = sync.OnceValue(func() map[string]process.Program {
	return map[string]process.Program{
		"sh": shell.Main, "bash": shell.Main, "ash": shell.Main, "dash": shell.Main,
		"[": condition, "test": condition, "printf": func(_ context.Context, p *process.Process) int { return shell.Printf(p, p.Args) },
		"true": quiet, "false": func(context.Context, *process.Process) int { return 1 }, "sync": quiet, "clear": quiet,
		"chown": quiet, "chgrp": quiet, "mount": mount, "umount": quiet,
		"echo": echo, "yes": yes, "seq": seq, "sleep": sleep, "usleep": sleep, "date": date, "env": env, "printenv": printenv,
		"timeout": timeout, "nohup": wrapped, "nice": wrapped, "setsid": wrapped, "exec": wrapped, "tini": wrapped, "dumb-init": wrapped, "su-exec": wrapped,
		"time": wrapped, "xargs": xargs, "watch": watch,
		"cat": cat, "tac": tac, "rev": rev, "tee": tee, "head": head, "tail": tail, "wc": wc, "sort": sortLines, "uniq": uniq, "cut": cut, "tr": tr,
		"nl": nl, "fold": cat, "more": cat, "less": cat, "strings": cat,
		"grep": grep, "egrep": grep, "fgrep": grep, "sed": sed, "expr": expr, "basename": basename, "dirname": dirname,
		"ls": ls, "mkdir": mkdir, "rmdir": rmdir, "rm": rm, "cp": cp, "mv": mv, "ln": ln, "touch": touch, "chmod": chmod, "stat": stat,
		"readlink": readlink, "realpath": realpath, "find": find, "du": du, "df": df, "dd": dd, "mktemp": mktemp, "truncate": truncate, "tar": tarProgram, "test-file": condition,
		"md5sum": md5sum, "sha1sum": sha1sum, "sha256sum": sha256sum, "base64": base64Program, "od": od, "hexdump": od,
		"hostname": hostname, "uname": uname, "id": id, "whoami": whoami, "uptime": uptime, "nproc": nproc, "free": free, "arch": arch,
		"ps": ps, "top": ps, "kill": kill, "killall": killall, "pkill": killall, "pidof": pidof, "pgrep": pidof, "which": which, "getent": getent,
		"wget": wget, "curl": curl, "nc": nc, "netcat": nc, "nslookup": nslookup, "dig": dig, "host": nslookup, "ping": ping, "ifconfig": ifconfig, "ip": ifconfig,
		"stress": stress, "perl": perl, "bc": bc,
	}
})

func quiet(context.Context, *process.Process) int { return 0 }

// condition is test as a program of its own, which a shell has as a builtin.
func condition(ctx context.Context, p *process.Process) int {
	words := make([]string, len(p.Args))
	for i, a := range p.Args {
		words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	words[0] = path.Base(p.Args[0])
	inner := p.Like([]string{"sh", "-c", strings.Join(words, " ")})
	return shell.Main(ctx, inner)
}

// options are the flags of a command line.
type options struct {
	given map[rune]bool
	value map[rune]string
	all   map[rune][]string
	rest  []string
}

func (o options) has(letters string) bool {
	return slices.ContainsFunc([]rune(letters), func(r rune) bool { return o.given[r] })
}

// number is the value of a flag as a number.
func (o options) number(letter rune, otherwise int) (int, error) {
	v, ok := o.value[letter]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(v, "+"))
	if err != nil {
		return 0, fmt.Errorf("invalid number '%s'", v)
	}
	return n, nil
}

// parse reads flags: the letters of spec, those before a colon with a value, and
// long ones by their letter. Flags may come behind operands, as with GNU tools.
func parse(p *process.Process, spec string, long map[string]rune) (options, bool) {
	o := options{given: map[rune]bool{}, value: map[rune]string{}, all: map[rune][]string{}}
	args := p.Args[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			o.rest = append(o.rest, args[i+1:]...)
			return o, true
		case strings.HasPrefix(a, "--"):
			name, value, has := strings.Cut(a[2:], "=")
			letter, ok := long[name]
			if !ok {
				p.Errorf("unrecognized option: %s", a[2:])
				return o, false
			}
			o.given[letter] = true
			if strings.Contains(spec, string(letter)+":") {
				if !has && i+1 < len(args) {
					i++
					value = args[i]
				}
				o.value[letter] = value
				o.all[letter] = append(o.all[letter], value)
			}
		case len(a) > 1 && a[0] == '-':
			for j, letter := range a[1:] {
				at := strings.IndexRune(spec, letter)
				if at < 0 || letter == ':' {
					p.Errorf("unrecognized option: %c", letter)
					return o, false
				}
				o.given[letter] = true
				if at+1 < len(spec) && spec[at+1] == ':' {
					value := a[j+2:]
					if value == "" {
						if i++; i == len(args) {
							p.Errorf("option requires an argument: %c", letter)
							return o, false
						}
						value = args[i]
					}
					o.value[letter] = value
					o.all[letter] = append(o.all[letter], value)
					break
				}
			}
		default:
			o.rest = append(o.rest, a)
		}
	}
	return o, true
}

// open opens a file for reading; - is the standard input.
func open(p *process.Process, name string) (io.Reader, error) {
	switch name {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return p.Stdin, nil
	}
	file, err := p.Machine.FS().Open(p.Path(name), 0)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// failed reports an error about a file and returns the exit code for it.
func failed(p *process.Process, name string, err error) int {
	p.Errorf("%s: %s", name, shell.Message(err))
	return 1
}

// cantOpen is failed in the words of busybox.
func cantOpen(p *process.Process, name string, err error) int {
	p.Errorf("can't open '%s': %s", name, shell.Message(err))
	return 1
}

// lines calls do for each line of the files, without its newline.
func lines(ctx context.Context, p *process.Process, files []string, do func(line string) error) int {
	if len(files) == 0 {
		files = []string{"-"}
	}
	status := 0
	for _, name := range files {
		r, err := open(p, name)
		if err != nil {
			status = cantOpen(p, name, err)
			continue
		}
		switch err := eachLine(ctx, p, r, do); {
		case errors.Is(err, errEnough):
			return status
		case err != nil:
			return code(err)
		}
	}
	return status
}

var errEnough = errors.New("enough")

func eachLine(ctx context.Context, p *process.Process, r io.Reader, do func(line string) error) error {
	reader := bufio.NewReaderSize(r, 4096)
	for {
		line, err := boundedLine(ctx, p, reader)
		if line != "" || err == nil {
			if useErr := p.Machine.Use(ctx, 1+len(line)/1024); useErr != nil {
				return useErr
			}
			if doErr := do(strings.TrimSuffix(line, "\n")); doErr != nil {
				return doErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// boundedLine reads a line. What a longer one needs is charged as memory, but kept
// only up to a bound.
func boundedLine(ctx context.Context, p *process.Process, r *bufio.Reader) (string, error) {
	var line []byte
	held := int64(0)
	defer func() { _ = p.Machine.Claim(-held) }()
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
		if err := p.Machine.Claim(int64(len(part))); err != nil {
			return "", err
		}
		held += int64(len(part))
		if err := p.Machine.Use(ctx, 1); err != nil {
			return "", err
		}
	}
}

// code is the exit code after an error that ends a tool.
func code(err error) int {
	var killed process.Killed
	switch {
	case errors.As(err, &killed):
		return 128 + int(killed.Signal)
	case errors.Is(err, io.ErrClosedPipe):
		return 128 + int(process.SIGPIPE)
	}
	return 1
}

// transfer copies in blocks that are charged.
func transfer(ctx context.Context, p *process.Process, w io.Writer, r io.Reader) error {
	buffer := make([]byte, 16<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if err := p.Machine.Use(ctx, 1+n/1024); err != nil {
				return err
			}
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// start starts another program. Without a child, failed is the exit code.
func start(ctx context.Context, p *process.Process, args []string, set func(child *process.Process)) (child *process.Process, failed int) {
	file, err := p.Find(args[0])
	if err != nil {
		p.Errorf("can't execute '%s': No such file or directory", args[0])
		return nil, process.ExitCode(err)
	}
	child = p.Like(args)
	if set != nil {
		set(child)
	}
	child, err = p.Machine.Spawn(ctx, child, shell.Load(p.Machine, file))
	if err != nil {
		p.Errorf("%s", err)
		return nil, 126
	}
	return child, 0
}

// run starts another program and waits for it.
func run(ctx context.Context, p *process.Process, args []string, set func(child *process.Process)) int {
	child, failed := start(ctx, p, args, set)
	if child == nil {
		return failed
	}
	select {
	case <-child.Done():
		return child.Code()
	case <-ctx.Done():
		return code(context.Cause(ctx))
	}
}

// wrapped runs the program behind its own options.
func wrapped(ctx context.Context, p *process.Process) int {
	args := p.Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-n" && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if path.Base(p.Args[0]) == "su-exec" && len(args) > 0 {
		args = args[1:]
	}
	if len(args) == 0 {
		return 0
	}
	return run(ctx, p, args, nil)
}

// Duration reads the operand of sleep: seconds, or a number with s, m, h or d.
func Duration(operand string) (time.Duration, bool) {
	if operand == "infinity" || operand == "inf" {
		return forever, true
	}
	unit := time.Second
	switch {
	case strings.HasSuffix(operand, "m"):
		unit = time.Minute
	case strings.HasSuffix(operand, "h"):
		unit = time.Hour
	case strings.HasSuffix(operand, "d"):
		unit = 24 * time.Hour
	}
	n, err := strconv.ParseFloat(strings.TrimRight(operand, "smhd"), 64)
	if err != nil || n < 0 || n != n {
		return 0, false
	}
	if n*unit.Seconds() > forever.Seconds() {
		return forever, true
	}
	return time.Duration(n * float64(unit)), true
}

const forever = 100 * 365 * 24 * time.Hour

func sleep(ctx context.Context, p *process.Process) int {
	if len(p.Args) < 2 {
		p.Errorf("missing operand")
		return 1
	}
	var total time.Duration
	for _, a := range p.Args[1:] {
		d, ok := Duration(a)
		if !ok {
			p.Errorf("invalid number '%s'", a)
			return 1
		}
		if path.Base(p.Args[0]) == "usleep" {
			d /= 1e6
		}
		total = min(total+d, forever)
	}
	if err := p.Sleep(ctx, total); err != nil {
		return code(err)
	}
	return 0
}

func timeout(ctx context.Context, p *process.Process) int {
	o, ok := leading(p, "s:k:t:")
	if !ok || len(o.rest) < 2 {
		p.Errorf("usage: timeout [-s SIG] SECS PROG ARGS")
		return 125
	}
	d, ok := Duration(o.rest[0])
	if !ok {
		p.Errorf("invalid number '%s'", o.rest[0])
		return 125
	}
	child, failed := start(ctx, p, o.rest[1:], nil)
	if child == nil {
		return failed
	}
	timer := p.Machine.Clock().NewTimer(d)
	defer timer.Stop()
	select {
	case <-child.Done():
		return child.Code()
	case <-ctx.Done():
		return code(context.Cause(ctx))
	case <-timer.C():
	}
	_ = p.Machine.Kill(child.PID, process.SIGTERM)
	select {
	case <-child.Done():
	case <-ctx.Done():
		return code(context.Cause(ctx))
	}
	return 124 + 19*btoi(o.given['s']) // 143 if the program's own code is asked for
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// leading is parse for programs that run another one: flags end at the first operand.
func leading(p *process.Process, spec string) (options, bool) {
	args := p.Args
	end := 1
	for end < len(args) && len(args[end]) > 1 && args[end][0] == '-' {
		at := strings.IndexByte(spec, args[end][1])
		if at >= 0 && at+1 < len(spec) && spec[at+1] == ':' && len(args[end]) == 2 {
			end++
		}
		end++
	}
	end = min(end, len(args))
	head := p.Like(args[:end])
	o, ok := parse(head, spec, nil)
	o.rest = args[end:]
	return o, ok
}

func xargs(ctx context.Context, p *process.Process) int {
	o, ok := leading(p, "n:I:0rtP:L:")
	if !ok {
		return 1
	}
	command := o.rest
	if len(command) == 0 {
		command = []string{"echo"}
	}
	data, err := io.ReadAll(io.LimitReader(p.Stdin, process.MaxArgument))
	if err != nil {
		return code(err)
	}
	items := strings.Fields(string(data))
	if o.given['0'] {
		items = strings.FieldsFunc(string(data), func(r rune) bool { return r == 0 })
	}
	if replace, ok := o.value['I']; ok {
		status := 0
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			args := make([]string, len(command))
			for i, c := range command {
				args[i] = strings.ReplaceAll(c, replace, line)
			}
			status = max(status, run(ctx, p, args, nil))
		}
		return status
	}
	size, err := o.number('n', max(len(items), 1))
	if err != nil || size < 1 {
		p.Errorf("invalid number")
		return 1
	}
	if len(items) == 0 {
		if o.given['r'] {
			return 0
		}
		return run(ctx, p, command, nil)
	}
	status := 0
	for batch := range slices.Chunk(items, size) {
		if status = run(ctx, p, slices.Concat(command, batch), nil); status > 125 {
			break
		}
	}
	if status != 0 && status < 126 {
		return 123
	}
	return status
}

func watch(ctx context.Context, p *process.Process) int {
	o, ok := leading(p, "n:td")
	if !ok || len(o.rest) == 0 {
		return 1
	}
	every, ok := Duration(o.value['n'])
	if !ok || every < 100*time.Millisecond {
		every = 2 * time.Second
	}
	for {
		run(ctx, p, []string{"sh", "-c", strings.Join(o.rest, " ")}, nil)
		if err := p.Sleep(ctx, every); err != nil {
			return code(err)
		}
	}
}

// info describes a file, following links.
func info(p *process.Process, name string) (fs.FileInfo, error) {
	return p.Machine.FS().Stat(p.Path(name))
}
