package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/shell"
)

// layouts are the conversions of strftime.
var layouts = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'Z': "MST", 'z': "-0700",
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
	'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", 'j': "002",
}

func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; c {
		case 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case 'N':
			fmt.Fprintf(&b, "%09d", t.Nanosecond())
		case 'u':
			b.WriteString(strconv.Itoa((int(t.Weekday())+6)%7 + 1))
		case 'n':
			b.WriteByte('\n')
		case '%':
			b.WriteByte('%')
		default:
			if layout, ok := layouts[c]; ok {
				b.WriteString(t.Format(layout))
			}
		}
	}
	return b.String()
}

func date(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "ud:RI:s:D:r:", map[string]rune{"utc": 'u', "date": 'd', "rfc-3339": 'I', "iso-8601": 'I'})
	if !ok {
		return 1
	}
	now := p.Machine.Clock().Now().UTC()
	if d, ok := o.value['d']; ok {
		if seconds, isSeconds := strings.CutPrefix(d, "@"); isSeconds {
			n, err := strconv.ParseInt(seconds, 10, 64)
			if err != nil {
				p.Errorf("invalid date '%s'", d)
				return 1
			}
			now = time.Unix(n, 0).UTC()
		} else if parsed, ok := parseDate(d); ok {
			now = parsed
		} else if d != "now" {
			p.Errorf("invalid date '%s'", d)
			return 1
		}
	}
	format := "%a %b %e %H:%M:%S %Z %Y"
	if o.given['I'] {
		format = "%Y-%m-%dT%H:%M:%S+00:00"
	}
	if len(o.rest) > 0 && strings.HasPrefix(o.rest[0], "+") {
		format = o.rest[0][1:]
	}
	p.Printf("%s\n", strftime(now, format))
	return 0
}

func parseDate(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func env(ctx context.Context, p *process.Process) int {
	args := p.Args[1:]
	vars := maps.Clone(p.Env)
	for len(args) > 0 {
		name, value, isVar := strings.Cut(args[0], "=")
		switch {
		case args[0] == "-i":
			vars = map[string]string{}
		case args[0] == "-u" && len(args) > 1:
			delete(vars, args[1])
			args = args[1:]
		case isVar:
			if vars == nil {
				vars = map[string]string{}
			}
			vars[name] = value
		default:
			return run(ctx, p, args, func(child *process.Process) { child.Env = vars })
		}
		args = args[1:]
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		p.Printf("%s=%s\n", name, vars[name])
	}
	return 0
}

func printenv(ctx context.Context, p *process.Process) int {
	if len(p.Args) == 1 {
		return env(ctx, p)
	}
	status := 0
	for _, name := range p.Args[1:] {
		value, ok := p.Env[name]
		if !ok {
			status = 1
			continue
		}
		p.Printf("%s\n", value)
	}
	return status
}

func hostname(_ context.Context, p *process.Process) int {
	if slices.Contains(p.Args, "-i") || slices.Contains(p.Args, "-I") {
		p.Printf("%s\n", strings.Join(p.Machine.Network().Addresses(), " "))
		return 0
	}
	p.Printf("%s\n", p.Machine.Hostname())
	return 0
}

func uname(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "asnrvmpio", nil)
	if !ok {
		return 1
	}
	fields := []struct{ flag, text string }{
		{"s", "Linux"}, {"n", p.Machine.Hostname()}, {"r", "6.12.0-kubesim"}, {"v", "#1 SMP"}, {"m", "x86_64"}, {"o", "Linux"},
	}
	var words []string
	for _, f := range fields {
		if o.given['a'] || o.has(f.flag) || len(o.given) == 0 && f.flag == "s" {
			words = append(words, f.text)
		}
	}
	p.Printf("%s\n", strings.Join(words, " "))
	return 0
}

func arch(_ context.Context, p *process.Process) int {
	p.Printf("x86_64\n")
	return 0
}

func id(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "ugnG", nil)
	switch user := p.Machine.User(); {
	case !ok:
		return 1
	case o.given['n'] && user == 0:
		p.Printf("root\n")
	case o.has("ugG"):
		p.Printf("%d\n", user)
	case user == 0:
		p.Printf("uid=0(root) gid=0(root) groups=0(root)\n")
	default:
		p.Printf("uid=%d gid=0(root) groups=0(root)\n", user)
	}
	return 0
}

func whoami(_ context.Context, p *process.Process) int {
	if user := p.Machine.User(); user != 0 {
		p.Errorf("unknown uid %d", user)
		return 1
	}
	p.Printf("root\n")
	return 0
}

func uptime(_ context.Context, p *process.Process) int {
	now := p.Machine.Clock().Now().UTC()
	p.Printf(" %s up %d min,  load average: 0.00, 0.00, 0.00\n", now.Format("15:04:05"), int(now.Sub(p.Started).Minutes()))
	return 0
}

func nproc(_ context.Context, p *process.Process) int {
	p.Printf("4\n")
	return 0
}

func free(_ context.Context, p *process.Process) int {
	p.Printf("              total        used        free      shared  buff/cache   available\nMem:        8388608      524288     7340032           0      524288     7864320\nSwap:             0           0           0\n")
	return 0
}

func ps(_ context.Context, p *process.Process) int {
	p.Printf("PID   USER     TIME  COMMAND\n")
	for _, other := range p.Machine.Processes() {
		p.Printf("%5d root      0:00 %s\n", other.PID, strings.Join(other.Args, " "))
	}
	return 0
}

func kill(_ context.Context, p *process.Process) int {
	args, signal := p.Args[1:], process.SIGTERM
	if len(args) > 1 && strings.HasPrefix(args[0], "-") {
		name := args[0][1:]
		if args = args[1:]; name == "s" {
			name, args = args[0], args[1:]
		}
		s, err := process.ParseSignal(name)
		if err != nil {
			p.Errorf("%s", err)
			return 1
		}
		signal = s
	}
	status := 0
	for _, a := range args {
		pid, err := strconv.Atoi(a)
		if err == nil {
			err = p.Machine.Kill(pid, signal)
		}
		if err != nil {
			p.Errorf("can't kill pid %s: No such process", a)
			status = 1
		}
	}
	return status
}

// byName are the other processes of a program.
func byName(p *process.Process, name string) []*process.Process {
	return slices.DeleteFunc(p.Machine.Processes(), func(o *process.Process) bool {
		return o.PID == p.PID || path.Base(o.Args[0]) != name && !strings.HasPrefix(o.Args[0], name+":")
	})
}

func killall(_ context.Context, p *process.Process) int {
	signal, status := process.SIGTERM, 1
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "-") {
			if s, err := process.ParseSignal(a[1:]); err == nil {
				signal = s
			}
			continue
		}
		for _, o := range byName(p, a) {
			if p.Machine.Kill(o.PID, signal) == nil {
				status = 0
			}
		}
	}
	return status
}

func pidof(_ context.Context, p *process.Process) int {
	var pids []string
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		for _, o := range byName(p, a) {
			pids = append(pids, strconv.Itoa(o.PID))
		}
	}
	if len(pids) == 0 {
		return 1
	}
	p.Printf("%s\n", strings.Join(pids, " "))
	return 0
}

func which(_ context.Context, p *process.Process) int {
	status := 0
	for _, a := range p.Args[1:] {
		file, err := p.Find(a)
		if err != nil {
			status = 1
			continue
		}
		p.Printf("%s\n", file)
	}
	return status
}

func basename(_ context.Context, p *process.Process) int {
	if len(p.Args) < 2 {
		return 1
	}
	name := path.Base(p.Args[1])
	if len(p.Args) > 2 && name != p.Args[2] {
		name = strings.TrimSuffix(name, p.Args[2])
	}
	p.Printf("%s\n", name)
	return 0
}

func dirname(_ context.Context, p *process.Process) int {
	if len(p.Args) < 2 {
		return 1
	}
	p.Printf("%s\n", path.Dir(strings.TrimRight(p.Args[1], "/")))
	return 0
}

// expr computes one operation, or a chain of + and - from left to right.
func expr(_ context.Context, p *process.Process) int {
	args := p.Args[1:]
	switch {
	case len(args) == 2 && args[0] == "length":
		p.Printf("%d\n", len(args[1]))
		return 0
	case len(args) == 3 && args[1] == ":":
		return exprMatch(p, args[0], args[2])
	}
	if len(args) == 0 {
		p.Errorf("syntax error")
		return 2
	}
	value := args[0]
	for i := 1; i+1 < len(args); i += 2 {
		var err error
		if value, err = operate(value, args[i], args[i+1]); err != nil {
			p.Errorf("%s", err)
			return 2
		}
	}
	p.Printf("%s\n", value)
	return btoi(value == "0" || value == "")
}

func exprMatch(p *process.Process, text, pattern string) int {
	compiled, err := regexp.Compile("^(?:" + basic(pattern) + ")")
	if err != nil {
		p.Errorf("%s", err)
		return 2
	}
	m := compiled.FindStringSubmatch(text)
	switch {
	case m == nil && compiled.NumSubexp() == 0:
		p.Printf("0\n")
		return 1
	case m == nil:
		p.Printf("\n")
		return 1
	case len(m) > 1:
		p.Printf("%s\n", m[1])
	default:
		p.Printf("%d\n", len(m[0]))
	}
	return 0
}

func operate(x, op, y string) (string, error) {
	a, errA := strconv.ParseInt(x, 10, 64)
	b, errB := strconv.ParseInt(y, 10, 64)
	numbers := errA == nil && errB == nil
	order := cmp.Compare(x, y)
	if numbers {
		order = cmp.Compare(a, b)
	}
	switch op {
	case "=", "==":
		return strconv.Itoa(btoi(order == 0)), nil
	case "!=":
		return strconv.Itoa(btoi(order != 0)), nil
	case "<":
		return strconv.Itoa(btoi(order < 0)), nil
	case "<=":
		return strconv.Itoa(btoi(order <= 0)), nil
	case ">":
		return strconv.Itoa(btoi(order > 0)), nil
	case ">=":
		return strconv.Itoa(btoi(order >= 0)), nil
	}
	if !numbers {
		return "", fmt.Errorf("non-integer argument")
	}
	switch op {
	case "+":
		return strconv.FormatInt(a+b, 10), nil
	case "-":
		return strconv.FormatInt(a-b, 10), nil
	case "*":
		return strconv.FormatInt(a*b, 10), nil
	case "/", "%":
		if b == 0 {
			return "", fmt.Errorf("division by zero")
		}
		if op == "/" {
			return strconv.FormatInt(a/b, 10), nil
		}
		return strconv.FormatInt(a%b, 10), nil
	}
	return "", fmt.Errorf("syntax error")
}

// stress uses memory and CPU time as asked: all of it is on paper.
func stress(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "c:m:t:i:d:b:h:s:z:v", map[string]rune{
		"cpu": 'c', "vm": 'm', "timeout": 't', "vm-bytes": 'b', "vm-hang": 'h', "io": 'i', "hdd": 'd', "verbose": 'v', "quiet": 'v', "vm-keep": 'v', "mem-total": 'b', "mem-alloc-size": 's', "mem-alloc-sleep": 'z', "cpus": 'c',
	})
	if !ok {
		return 1
	}
	p.Printf("stress: info: [%d] dispatching hogs: %s cpu, 0 io, %s vm, 0 hdd\n", p.PID, cmp.Or(o.value['c'], "0"), cmp.Or(o.value['m'], "0"))
	if amount := o.value['b']; amount != "" {
		n, err := size(amount)
		if err != nil {
			p.Errorf("%s", err)
			return 1
		}
		if err := p.Machine.Claim(n); err != nil {
			return code(err)
		}
		defer func() { _ = p.Machine.Claim(-n) }()
	}
	deadline := p.Machine.Clock().Now().Add(forever)
	if t, ok := Duration(o.value['t']); ok && o.value['t'] != "" {
		deadline = p.Machine.Clock().Now().Add(t)
	}
	for p.Machine.Clock().Now().Before(deadline) {
		if !o.given['c'] {
			if err := p.Sleep(ctx, deadline.Sub(p.Machine.Clock().Now())); err != nil {
				return code(err)
			}
			continue
		}
		// More than any share, so that the machine makes it wait.
		if err := p.Machine.Use(ctx, process.StepsPerSecond); err != nil {
			return code(err)
		}
	}
	return 0
}

var bpi = regexp.MustCompile(`bpi\((\d+)\)`)

// perl knows one program, that of the Job in Kubernetes' documentation, which
// prints digits of pi; any other succeeds in silence.
func perl(ctx context.Context, p *process.Process) int {
	m := bpi.FindStringSubmatch(strings.Join(p.Args, " "))
	if m == nil {
		return 0
	}
	digits, err := strconv.Atoi(m[1])
	if err != nil || digits > 10000 {
		digits = 10000
	}
	if err := p.Machine.Use(ctx, digits); err != nil {
		return code(err)
	}
	p.Printf("%s\n", pi(max(digits, 1)))
	return 0
}

// pi returns so many significant digits, by Machin's formula.
func pi(digits int) string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits+10)), nil)
	arctan := func(x int64) *big.Int {
		term := new(big.Int).Div(unit, big.NewInt(x))
		sum, square := new(big.Int).Set(term), big.NewInt(x*x)
		for n := int64(3); term.Sign() != 0; n += 2 {
			term.Div(term, square)
			part := new(big.Int).Div(term, big.NewInt(n))
			if n%4 == 3 {
				sum.Sub(sum, part)
			} else {
				sum.Add(sum, part)
			}
		}
		return sum
	}
	value := new(big.Int).Mul(big.NewInt(16), arctan(5))
	value.Sub(value, new(big.Int).Mul(big.NewInt(4), arctan(239)))
	text := value.String()[:digits]
	if digits == 1 {
		return text
	}
	return text[:1] + "." + text[1:]
}

// bc computes integer expressions, with the arithmetic of the shell.
func bc(ctx context.Context, p *process.Process) int {
	return lines(ctx, p, nil, func(line string) error {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "scale") {
			return nil
		}
		shell.Main(ctx, p.Like([]string{"bc", "-c", "echo $((" + line + "))"}))
		return nil
	})
}
