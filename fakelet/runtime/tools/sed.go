package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/shell"
)

// sedCommand is one command of a sed script: those of s, d, p, q, =, a, i, c, y.
type sedCommand struct {
	from, to *sedAddress
	not      bool
	verb     byte
	expr     *regexp.Regexp
	text     string // replacement, or text of a, i and c
	global   bool
	print    bool
	nth      int
	active   bool // between from and to
}

type sedAddress struct {
	line int
	last bool
	expr *regexp.Regexp
}

func (a *sedAddress) matches(n int, last bool, line string) bool {
	switch {
	case a.expr != nil:
		return a.expr.MatchString(line)
	case a.last:
		return last
	}
	return a.line == n
}

func sed(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "nirEe:f:s", map[string]rune{"in-place": 'i', "expression": 'e', "quiet": 'n', "regexp-extended": 'E'})
	if !ok {
		return 1
	}
	scripts := o.all['e']
	if len(scripts) == 0 {
		if len(o.rest) == 0 {
			p.Errorf("no script specified")
			return 1
		}
		scripts, o.rest = o.rest[:1], o.rest[1:]
	}
	commands, err := parseSed(strings.Join(scripts, "\n"), o.has("rE"))
	if err != nil {
		p.Errorf("%s", err)
		return 1
	}
	if !o.given['i'] {
		all, status := collect(ctx, p, o.rest)
		return output(p, runSed(commands, all, o.given['n']), status)
	}
	for _, name := range o.rest {
		all, status := collect(ctx, p, []string{name})
		if status != 0 {
			return status
		}
		text := strings.Join(runSed(commands, all, o.given['n']), "\n")
		if text != "" {
			text += "\n"
		}
		if err := p.Machine.FS().WriteFile(p.Path(name), []byte(text)); err != nil {
			return failed(p, name, err)
		}
	}
	return 0
}

// runSed edits lines. No line grows beyond maxLine.
func runSed(commands []*sedCommand, all []string, quiet bool) []string {
	var out []string
	for i, line := range all {
		deleted, quit := false, false
		var after []string
		for _, c := range commands {
			if deleted || quit || !c.applies(i+1, i == len(all)-1, line) {
				continue
			}
			switch c.verb {
			case 's':
				changed, ok := c.replace(line)
				if line = changed; ok && c.print {
					out = append(out, line)
				}
			case 'd':
				deleted = true
			case 'p':
				out = append(out, line)
			case 'q':
				quit = true
			case '=':
				out = append(out, strconv.Itoa(i+1))
			case 'a':
				after = append(after, c.text)
			case 'i':
				out = append(out, c.text)
			case 'c':
				line = c.text
			}
		}
		if !deleted && !quiet {
			out = append(out, line)
		}
		if out = append(out, after...); quit {
			break
		}
	}
	return out
}

func (c *sedCommand) applies(n int, last bool, line string) bool {
	ok := c.from == nil
	switch {
	case c.active:
		ok = true
		c.active = !c.to.matches(n, last, line)
	case c.from != nil && c.from.matches(n, last, line):
		ok = true
		c.active = c.to != nil && (c.to.expr != nil || c.to.last && !last || c.to.line > n)
	}
	return ok != c.not
}

func (c *sedCommand) replace(line string) (string, bool) {
	var b strings.Builder
	at, n := 0, 0
	for _, m := range c.expr.FindAllStringSubmatchIndex(line, -1) {
		if n++; n < c.nth || !c.global && n > max(c.nth, 1) || b.Len() > maxLine {
			continue
		}
		b.WriteString(line[at:m[0]])
		b.Write(c.expr.ExpandString(nil, c.text, line, m))
		at = m[1]
	}
	b.WriteString(line[at:])
	return b.String(), at > 0 || b.String() != line
}

func parseSed(script string, extended bool) ([]*sedCommand, error) {
	var commands []*sedCommand
	for {
		script = strings.TrimLeft(script, " \t\n;")
		if script == "" || script[0] == '}' && strings.Trim(script, "} \n;") == "" {
			return commands, nil
		}
		c := &sedCommand{}
		var err error
		if c.from, script, err = sedAddressOf(script, extended); err != nil {
			return nil, err
		}
		if strings.HasPrefix(script, ",") {
			if c.to, script, err = sedAddressOf(script[1:], extended); err != nil {
				return nil, err
			}
		}
		if script = strings.TrimLeft(script, " "); strings.HasPrefix(script, "!") {
			c.not, script = true, strings.TrimLeft(script[1:], " ")
		}
		if script == "" {
			return nil, errors.New("missing command")
		}
		c.verb, script = script[0], script[1:]
		if script, err = c.operands(script, extended); err != nil {
			return nil, err
		}
		commands = append(commands, c)
	}
}

// operands reads what follows a command's letter.
func (c *sedCommand) operands(script string, extended bool) (string, error) {
	switch c.verb {
	case 'd', 'p', 'q', '=':
		return script, nil
	case 'a', 'i', 'c':
		line, rest, _ := strings.Cut(script, "\n")
		line = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(line, " "), `\`), " ")
		if line == "" {
			line, rest, _ = strings.Cut(rest, "\n")
		}
		c.text = line
		return rest, nil
	case 's':
		if script == "" {
			return "", errors.New("bad option in substitution expression")
		}
		parts, rest, ok := delimited(script, 2)
		if !ok {
			return "", errors.New("unterminated `s' command")
		}
		for len(rest) > 0 && strings.IndexByte(" ;\n}", rest[0]) < 0 {
			switch f := rest[0]; {
			case f == 'g':
				c.global = true
			case f == 'p':
				c.print = true
			case f == 'i' || f == 'I':
				parts[0] = "(?i)" + parts[0]
			case f >= '1' && f <= '9':
				c.nth = int(f - '0')
			default:
				return "", errors.New("bad option in substitution expression")
			}
			rest = rest[1:]
		}
		var err error
		c.expr, err = sedExpression(parts[0], extended)
		c.text = replacement(parts[1])
		return rest, err
	}
	return "", fmt.Errorf("unsupported command %c", c.verb)
}

func sedExpression(text string, extended bool) (*regexp.Regexp, error) {
	if !extended {
		flag := ""
		if rest, ok := strings.CutPrefix(text, "(?i)"); ok {
			flag, text = "(?i)", rest
		}
		text = flag + basic(text)
	}
	return regexp.Compile(text)
}

func sedAddressOf(script string, extended bool) (*sedAddress, string, error) {
	switch {
	case script == "":
		return nil, script, nil
	case script[0] == '$':
		return &sedAddress{last: true}, script[1:], nil
	case script[0] == '/':
		parts, rest, ok := delimited(script, 1)
		if !ok {
			return nil, "", errors.New("unterminated address regex")
		}
		expr, err := sedExpression(parts[0], extended)
		return &sedAddress{expr: expr}, rest, err
	case script[0] >= '0' && script[0] <= '9':
		end := strings.IndexFunc(script, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(script)
		}
		n, err := strconv.Atoi(script[:end])
		return &sedAddress{line: n}, script[end:], err
	}
	return nil, script, nil
}

// delimited reads n parts that the first character of text separates and ends.
func delimited(text string, n int) (parts []string, rest string, ok bool) {
	mark := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			if text[i] != mark {
				b.WriteByte('\\')
			}
			b.WriteByte(text[i])
		case text[i] == mark:
			parts = append(parts, b.String())
			b.Reset()
			if len(parts) == n {
				return parts, text[i+1:], true
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return nil, "", false
}

// replacement turns the right side of s into a template of package regexp.
func replacement(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$':
			b.WriteString("$$")
		case c == '&':
			b.WriteString("${0}")
		case c == '\\' && i+1 < len(text):
			i++
			switch d := text[i]; {
			case d >= '0' && d <= '9':
				b.WriteString("${" + string(d) + "}")
			case d == '&' || d == '\\':
				b.WriteByte(d)
			default:
				out, _, _ := shell.Unescape(`\`+string(d), false)
				b.WriteString(strings.TrimPrefix(out, `\`))
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
