package tools

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/shell"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

func echo(_ context.Context, p *process.Process) int {
	args := p.Args[1:]
	newline, escapes := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, f := range args[0][1:] {
			switch f {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var b strings.Builder
		for i := 0; i < len(text); {
			out, n, end := shell.Unescape(text[i:], true)
			b.WriteString(out)
			if i += n; end {
				newline = false
				break
			}
		}
		text = b.String()
	}
	if newline {
		text += "\n"
	}
	if _, err := io.WriteString(p.Stdout, text); err != nil {
		return code(err)
	}
	return 0
}

func yes(ctx context.Context, p *process.Process) int {
	word := "y"
	if len(p.Args) > 1 {
		word = strings.Join(p.Args[1:], " ")
	}
	block := strings.Repeat(word+"\n", max(1, 4096/(len(word)+1)))
	for {
		if err := p.Machine.Use(ctx, 1+len(block)/1024); err != nil {
			return code(err)
		}
		if _, err := io.WriteString(p.Stdout, block); err != nil {
			return code(err)
		}
	}
}

func seq(ctx context.Context, p *process.Process) int {
	o := p.Args[1:]
	separator, width := "\n", false
	for len(o) > 0 && len(o[0]) > 1 && o[0][0] == '-' && (o[0][1] < '0' || o[0][1] > '9') {
		switch {
		case o[0] == "-w":
			width = true
		case o[0] == "-s" && len(o) > 1:
			o = o[1:]
			separator = o[0]
		}
		o = o[1:]
	}
	first, step, last := 1.0, 1.0, 0.0
	numbers := make([]float64, len(o))
	for i, a := range o {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil {
			p.Errorf("invalid number '%s'", a)
			return 1
		}
		numbers[i] = n
	}
	switch len(numbers) {
	case 1:
		last = numbers[0]
	case 2:
		first, last = numbers[0], numbers[1]
	case 3:
		first, step, last = numbers[0], numbers[1], numbers[2]
	default:
		p.Errorf("usage: seq [FIRST [STEP]] LAST")
		return 1
	}
	if step == 0 {
		step = 1
	}
	w := bufio.NewWriter(p.Stdout)
	digits := len(strconv.FormatFloat(last, 'f', -1, 64))
	for i := 0; ; i++ {
		n := first + float64(i)*step
		if step > 0 && n > last || step < 0 && n < last {
			break
		}
		if i > 0 {
			fmt.Fprint(w, separator)
		}
		text := strconv.FormatFloat(n, 'f', -1, 64)
		if width {
			text = fmt.Sprintf("%0*s", digits, text)
		}
		fmt.Fprint(w, text)
		if i%64 == 0 {
			if err := p.Machine.Use(ctx, 1); err != nil {
				return code(err)
			}
		}
		if w.Buffered() > 2048 {
			if err := w.Flush(); err != nil {
				return code(err)
			}
		}
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return code(err)
	}
	return 0
}

func cat(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "nbveAtTsuEw:", nil)
	if !ok {
		return 1
	}
	if o.has("nb") {
		i := 0
		return lines(ctx, p, o.rest, func(line string) error {
			i++
			_, err := fmt.Fprintf(p.Stdout, "%6d\t%s\n", i, line)
			return err
		})
	}
	files := o.rest
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
		if err := transfer(ctx, p, p.Stdout, r); err != nil {
			if code(err) > 128 {
				return code(err)
			}
			status = failed(p, name, err)
		}
	}
	return status
}

func tac(ctx context.Context, p *process.Process) int {
	all, status := collect(ctx, p, p.Args[1:])
	slices.Reverse(all)
	return output(p, all, status)
}

func rev(ctx context.Context, p *process.Process) int {
	return lines(ctx, p, p.Args[1:], func(line string) error {
		r := []rune(line)
		slices.Reverse(r)
		_, err := fmt.Fprintln(p.Stdout, string(r))
		return err
	})
}

func nl(ctx context.Context, p *process.Process) int {
	i := 0
	return lines(ctx, p, p.Args[1:], func(line string) error {
		i++
		_, err := fmt.Fprintf(p.Stdout, "%6d\t%s\n", i, line)
		return err
	})
}

// collect keeps all lines, whose memory is charged until the tool ends.
func collect(ctx context.Context, p *process.Process, files []string) (all []string, status int) {
	status = lines(ctx, p, files, func(line string) error {
		all = append(all, line)
		return p.Machine.Grow(int64(len(line) + 16))
	})
	held := int64(0)
	for _, line := range all {
		held += int64(len(line) + 16)
	}
	_ = p.Machine.Grow(-held)
	return all, status
}

func output(p *process.Process, all []string, status int) int {
	w := bufio.NewWriter(p.Stdout)
	for _, line := range all {
		fmt.Fprintln(w, line)
	}
	if err := w.Flush(); err != nil {
		return code(err)
	}
	return status
}

func tee(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "ai", nil)
	if !ok {
		return 1
	}
	writers := []io.Writer{p.Stdout}
	flags := vfs.Write | vfs.Create | vfs.Truncate
	if o.given['a'] {
		flags = vfs.Write | vfs.Create | vfs.Append
	}
	status := 0
	for _, name := range o.rest {
		if name == "/dev/stderr" || name == "/dev/stdout" {
			writers = append(writers, p.Stderr)
			continue
		}
		file, err := p.Machine.FS().Open(p.Path(name), flags)
		if err != nil {
			status = cantOpen(p, name, err)
			continue
		}
		writers = append(writers, file)
	}
	if err := transfer(ctx, p, io.MultiWriter(writers...), p.Stdin); err != nil {
		return code(err)
	}
	return status
}

// countFlag turns the old form -5 into -n 5.
func countFlag(p *process.Process) {
	for i, a := range p.Args {
		if len(a) > 1 && i > 0 && (a[0] == '-') && strings.Trim(a[1:], "0123456789") == "" {
			p.Args = slices.Concat(p.Args[:i], []string{"-n", a[1:]}, p.Args[i+1:])
			return
		}
	}
}

// size reads a number with k, M or G.
func size(text string) (int64, error) {
	factor := int64(1)
	lower := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(text, "B"), "i"))
	switch {
	case strings.HasSuffix(lower, "k"):
		factor = 1 << 10
	case strings.HasSuffix(lower, "m"):
		factor = 1 << 20
	case strings.HasSuffix(lower, "g"):
		factor = 1 << 30
	}
	n, err := strconv.ParseInt(strings.TrimRight(lower, "kmg"), 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, fmt.Errorf("invalid number '%s'", text)
	}
	return n * factor, nil
}

func head(ctx context.Context, p *process.Process) int {
	countFlag(p)
	o, ok := parse(p, "n:c:qv", map[string]rune{"lines": 'n', "bytes": 'c'})
	if !ok {
		return 1
	}
	if c, ok := o.value['c']; ok {
		n, err := size(c)
		if err != nil {
			p.Errorf("%s", err)
			return 1
		}
		files := o.rest
		if len(files) == 0 {
			files = []string{"-"}
		}
		for _, name := range files {
			r, err := open(p, name)
			if err != nil {
				return cantOpen(p, name, err)
			}
			if err := transfer(ctx, p, p.Stdout, io.LimitReader(r, n)); err != nil {
				return code(err)
			}
		}
		return 0
	}
	n, err := o.number('n', 10)
	if err != nil {
		p.Errorf("%s", err)
		return 1
	}
	if n < 0 {
		all, status := collect(ctx, p, o.rest)
		return output(p, all[:max(0, len(all)+n)], status)
	}
	if n == 0 {
		return 0
	}
	i := 0
	return lines(ctx, p, o.rest, func(line string) error {
		if _, err := fmt.Fprintln(p.Stdout, line); err != nil {
			return err
		}
		if i++; i == n {
			return errEnough
		}
		return nil
	})
}

func tail(ctx context.Context, p *process.Process) int {
	countFlag(p)
	o, ok := parse(p, "n:c:fFqs:", map[string]rune{"lines": 'n', "bytes": 'c', "follow": 'f'})
	if !ok {
		return 1
	}
	if o.has("fF") && len(o.rest) > 0 {
		return follow(ctx, p, o)
	}
	n, err := o.number('n', 10)
	if err != nil {
		p.Errorf("%s", err)
		return 1
	}
	if strings.HasPrefix(o.value['n'], "+") {
		i := 0
		return lines(ctx, p, o.rest, func(line string) error {
			if i++; i < n {
				return nil
			}
			_, err := fmt.Fprintln(p.Stdout, line)
			return err
		})
	}
	n = max(n, -n)
	if n > 1<<16 {
		n = 1 << 16
	}
	var last []string
	status := lines(ctx, p, o.rest, func(line string) error {
		if last = append(last, line); len(last) > n {
			last = last[1:]
		}
		return nil
	})
	return output(p, last, status)
}

// follow prints the end of files, and what is added to them. It looks for that
// once a second, and sleeps for good where nothing can come.
func follow(ctx context.Context, p *process.Process, o options) int {
	n, err := o.number('n', 10)
	if err != nil {
		p.Errorf("%s", err)
		return 1
	}
	var files []*vfs.File
	for _, name := range o.rest {
		file, err := p.Machine.FS().Open(p.Path(name), 0)
		if err != nil {
			cantOpen(p, name, err)
			continue
		}
		if file.Device() != "" {
			continue
		}
		var last []string
		if err := eachLine(ctx, p, file, func(line string) error {
			if last = append(last, line); len(last) > n {
				last = last[1:]
			}
			return nil
		}); err != nil {
			return code(err)
		}
		output(p, last, 0)
		files = append(files, file)
	}
	wait := time.Second
	if len(files) == 0 && !o.given['F'] {
		wait = forever
	}
	for {
		if err := p.Sleep(ctx, wait); err != nil {
			return code(err)
		}
		for _, file := range files {
			if err := transfer(ctx, p, p.Stdout, file); err != nil {
				return code(err)
			}
		}
	}
}

func wc(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "lwcm", nil)
	if !ok {
		return 1
	}
	files := o.rest
	if len(files) == 0 {
		files = []string{"-"}
	}
	status := 0
	for _, name := range files {
		var counts [3]int
		r, err := open(p, name)
		if err != nil {
			status = cantOpen(p, name, err)
			continue
		}
		counter := &counting{r: r}
		if err := eachLine(ctx, p, counter, func(line string) error {
			counts[1] += len(strings.Fields(line))
			return nil
		}); err != nil {
			return code(err)
		}
		counts[0], counts[2] = counter.lines, counter.bytes
		var words []string
		for i, flag := range []string{"l", "w", "cm"} {
			switch {
			case !o.has("lwcm"):
				words = append(words, fmt.Sprintf("%9d", counts[i]))
			case o.has(flag):
				words = append(words, strconv.Itoa(counts[i]))
			}
		}
		if name != "-" {
			words = append(words, name)
		}
		p.Printf("%s\n", strings.Join(words, " "))
	}
	return status
}

type counting struct {
	r            io.Reader
	bytes, lines int
}

// Read implements io.Reader.
func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.bytes += n
	c.lines += strings.Count(string(b[:n]), "\n")
	return n, err
}

func sortLines(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "rnuk:t:hVfbso:", nil)
	if !ok {
		return 1
	}
	all, status := collect(ctx, p, o.rest)
	field := 0
	if k, ok := o.value['k']; ok {
		field, _ = strconv.Atoi(strings.TrimRight(strings.Split(strings.Split(k, ",")[0], ".")[0], "nrhbf"))
		if strings.Contains(k, "n") {
			o.given['n'] = true
		}
		if strings.Contains(k, "r") {
			o.given['r'] = true
		}
	}
	key := func(line string) string {
		if field == 0 {
			return line
		}
		parts := strings.Fields(line)
		if t, ok := o.value['t']; ok {
			parts = strings.Split(line, t)
		}
		if field > len(parts) {
			return ""
		}
		return parts[field-1]
	}
	slices.SortStableFunc(all, func(a, b string) int {
		order := 0
		if o.has("nh") {
			order = cmp.Compare(leadingNumber(key(a)), leadingNumber(key(b)))
		} else {
			order = cmp.Compare(key(a), key(b))
		}
		if order == 0 && !o.given['s'] {
			order = cmp.Compare(a, b)
		}
		if o.given['r'] {
			return -order
		}
		return order
	})
	if o.given['u'] {
		all = slices.CompactFunc(all, func(a, b string) bool { return key(a) == key(b) })
	}
	return output(p, all, status)
}

var numberStart = regexp.MustCompile(`^\s*-?[0-9]*\.?[0-9]*`)

func leadingNumber(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(numberStart.FindString(text)), 64)
	if err != nil {
		return 0
	}
	return n
}

func uniq(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "cdui", nil)
	if !ok {
		return 1
	}
	last, n := "", 0
	flush := func() error {
		if n == 0 || o.given['d'] && n < 2 || o.given['u'] && n > 1 {
			return nil
		}
		if o.given['c'] {
			_, err := fmt.Fprintf(p.Stdout, "%7d %s\n", n, last)
			return err
		}
		_, err := fmt.Fprintln(p.Stdout, last)
		return err
	}
	status := lines(ctx, p, o.rest, func(line string) error {
		if n > 0 && line == last {
			n++
			return nil
		}
		err := flush()
		last, n = line, 1
		return err
	})
	if err := flush(); err != nil {
		return code(err)
	}
	return status
}

// ranges reads lists such as 1,3-5,7-.
func ranges(list string) (func(i int) bool, error) {
	type span struct{ from, to int }
	var spans []span
	for part := range strings.SplitSeq(list, ",") {
		from, to, isSpan := strings.Cut(part, "-")
		s := span{1, 1 << 30}
		var err error
		if from != "" {
			if s.from, err = strconv.Atoi(from); err != nil {
				return nil, fmt.Errorf("bad range '%s'", part)
			}
		}
		switch {
		case !isSpan:
			s.to = s.from
		case to != "":
			if s.to, err = strconv.Atoi(to); err != nil {
				return nil, fmt.Errorf("bad range '%s'", part)
			}
		}
		spans = append(spans, s)
	}
	return func(i int) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= i && i <= s.to })
	}, nil
}

func cut(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "d:f:c:b:s", nil)
	if !ok {
		return 1
	}
	list := cmp.Or(o.value['f'], o.value['c'], o.value['b'])
	chosen, err := ranges(list)
	if err != nil || list == "" {
		p.Errorf("bad list '%s'", list)
		return 1
	}
	delimiter := cmp.Or(o.value['d'], "\t")
	return lines(ctx, p, o.rest, func(line string) error {
		separator := delimiter
		parts := strings.Split(line, delimiter)
		if o.value['f'] == "" {
			separator, parts = "", strings.Split(line, "")
		} else if len(parts) == 1 {
			if o.given['s'] {
				return nil
			}
			_, err := fmt.Fprintln(p.Stdout, line)
			return err
		}
		var kept []string
		for i, part := range parts {
			if chosen(i + 1) {
				kept = append(kept, part)
			}
		}
		_, err := fmt.Fprintln(p.Stdout, strings.Join(kept, separator))
		return err
	})
}

var classes = strings.NewReplacer("[:lower:]", "a-z", "[:upper:]", "A-Z", "[:digit:]", "0-9", "[:alpha:]", "A-Za-z", "[:alnum:]", "A-Za-z0-9", "[:space:]", " \\t\\n\\r", "[:punct:]", "!-/:-@[-`{-~")

// charset expands a set of tr.
func charset(spec string) []byte {
	spec = classes.Replace(spec)
	var flat []byte
	var literal []bool
	for i := 0; i < len(spec); {
		out, n, _ := shell.Unescape(spec[i:], false)
		for _, b := range []byte(out) {
			flat = append(flat, b)
			literal = append(literal, n > 1)
		}
		i += n
	}
	var set []byte
	for i := 0; i < len(flat); i++ {
		if i+2 < len(flat) && flat[i+1] == '-' && !literal[i+1] && flat[i] <= flat[i+2] {
			for c := int(flat[i]); c <= int(flat[i+2]); c++ {
				set = append(set, byte(c))
			}
			i += 2
			continue
		}
		set = append(set, flat[i])
	}
	return set
}

func tr(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "dscC", nil)
	if !ok || len(o.rest) == 0 {
		return 1
	}
	from := charset(o.rest[0])
	if o.has("cC") {
		var rest []byte
		for c := range 256 {
			if !slices.Contains(from, byte(c)) {
				rest = append(rest, byte(c))
			}
		}
		from = rest
	}
	var to []byte
	if len(o.rest) > 1 {
		to = charset(o.rest[1])
	}
	squeeze := from
	if len(to) > 0 {
		squeeze = to
	}
	last := -1
	translate := func(w io.Writer, block []byte) error {
		out := make([]byte, 0, len(block))
		for _, c := range block {
			if i := slices.Index(from, c); i >= 0 {
				if o.given['d'] {
					continue
				}
				if len(to) > 0 {
					c = to[min(i, len(to)-1)]
				}
			}
			if o.given['s'] && int(c) == last && slices.Contains(squeeze, c) {
				continue
			}
			last = int(c)
			out = append(out, c)
		}
		_, err := w.Write(out)
		return err
	}
	if err := transfer(ctx, p, writerFunc(func(b []byte) (int, error) { return len(b), translate(p.Stdout, b) }), p.Stdin); err != nil {
		return code(err)
	}
	return 0
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// basic turns a basic regular expression of POSIX into one of package regexp.
func basic(expr string) string {
	var b strings.Builder
	inSet := false
	for i := 0; i < len(expr); i++ {
		c := expr[i]
		switch {
		case inSet:
			b.WriteByte(c)
			if c == '[' && i+1 < len(expr) && expr[i+1] == ':' {
				end := strings.Index(expr[i:], ":]")
				if end > 0 {
					b.WriteString(expr[i+1 : i+end+2])
					i += end + 1
				}
			} else if c == ']' {
				inSet = false
			}
		case c == '\\' && i+1 < len(expr):
			i++
			switch expr[i] {
			case '(', ')', '{', '}', '|', '+', '?':
				b.WriteByte(expr[i])
			case '<', '>':
				b.WriteString(`\b`)
			default:
				b.WriteByte('\\')
				b.WriteByte(expr[i])
			}
		case c == '[':
			inSet = true
			b.WriteByte(c)
			if i+1 < len(expr) && expr[i+1] == '^' {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(expr) && expr[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
		case strings.IndexByte("(){}|+?", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func grep(ctx context.Context, p *process.Process) int {
	countFlag(p)
	o, ok := parse(p, "invclqsoEFGwxrRhHe:A:B:C:m:n:P", map[string]rune{
		"color": 's', "quiet": 'q', "silent": 'q', "count": 'c', "invert-match": 'v', "ignore-case": 'i', "line-buffered": 's', "only-matching": 'o', "extended-regexp": 'E', "fixed-strings": 'F',
	})
	if !ok {
		return 2
	}
	patterns := o.all['e']
	if len(patterns) == 0 {
		if len(o.rest) == 0 {
			p.Errorf("usage: grep [-EFivnclqo] PATTERN [FILE]...")
			return 2
		}
		patterns, o.rest = o.rest[:1], o.rest[1:]
	}
	expr, err := grepExpression(path.Base(p.Args[0]), o, patterns)
	if err != nil {
		p.Errorf("bad regex '%s': %s", patterns[0], err)
		return 2
	}
	files := o.rest
	if o.has("rR") {
		files = walkFiles(p, files)
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	g := &grepping{p: p, o: o, expr: expr, names: (len(files) > 1 || o.given['H']) && !o.given['h']}
	for _, name := range files {
		if status := g.file(ctx, name); status > 1 {
			return status
		}
		if o.given['q'] && g.found {
			return 0
		}
	}
	switch {
	case g.failed:
		return 2
	case g.found:
		return 0
	}
	return 1
}

func grepExpression(program string, o options, patterns []string) (*regexp.Regexp, error) {
	var parts []string
	for _, one := range strings.Split(strings.Join(patterns, "\n"), "\n") {
		switch {
		case o.given['F'] || program == "fgrep":
			one = regexp.QuoteMeta(one)
		case !o.has("EP") && program != "egrep":
			one = basic(one)
		}
		if o.given['w'] {
			one = `\b(?:` + one + `)\b`
		}
		if o.given['x'] {
			one = `^(?:` + one + `)$`
		}
		parts = append(parts, "(?:"+one+")")
	}
	expr := strings.Join(parts, "|")
	if o.given['i'] {
		expr = "(?i)" + expr
	}
	return regexp.Compile(expr)
}

type grepping struct {
	p             *process.Process
	o             options
	expr          *regexp.Regexp
	names         bool
	found, failed bool
}

func (g *grepping) file(ctx context.Context, name string) int {
	r, err := open(g.p, name)
	if err != nil {
		if !g.o.given['s'] {
			failed(g.p, name, err)
		}
		g.failed = true
		return 0
	}
	most, err := g.o.number('m', 1<<30)
	if err != nil {
		return 2
	}
	after, _ := g.o.number('A', 0)
	around, _ := g.o.number('C', 0)
	after = max(after, around)
	count, number, trailing := 0, 0, 0
	err = eachLine(ctx, g.p, r, func(line string) error {
		number++
		matched := g.expr.MatchString(line) != g.o.given['v']
		if !matched {
			if trailing > 0 {
				trailing--
				return g.print(name, number, line, "-")
			}
			return nil
		}
		g.found = true
		count++
		trailing = after
		switch {
		case g.o.has("qlc"):
			if g.o.has("ql") {
				return errEnough
			}
		case g.o.given['o']:
			for _, m := range g.expr.FindAllString(line, -1) {
				if err := g.print(name, number, m, ":"); err != nil {
					return err
				}
			}
		default:
			if err := g.print(name, number, line, ":"); err != nil {
				return err
			}
		}
		if count >= most {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return code(err) + 2
	}
	switch {
	case g.o.given['l'] && count > 0:
		g.p.Printf("%s\n", name)
	case g.o.given['c']:
		prefix := ""
		if g.names {
			prefix = name + ":"
		}
		g.p.Printf("%s%d\n", prefix, count)
	}
	return 0
}

func (g *grepping) print(name string, number int, line, mark string) error {
	prefix := ""
	if g.names {
		prefix = name + mark
	}
	if g.o.given['n'] {
		prefix += strconv.Itoa(number) + mark
	}
	_, err := fmt.Fprintln(g.p.Stdout, prefix+line)
	return err
}
