package shell

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// maxWidth bounds a field of printf.
const maxWidth = 4096

// Printf is the program printf: the format is used again while arguments are left.
func Printf(p *process.Process, args []string) int {
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if len(args) < 2 {
		p.Errorf("usage: printf format [arguments]")
		return 2
	}
	format, rest := args[1], args[2:]
	status := 0
	for {
		text, used, stop, err := formatOnce(format, rest)
		if err != nil {
			fmt.Fprintf(p.Stderr, "printf: %s\n", err)
			status = 1
		}
		if _, err := fmt.Fprint(p.Stdout, text); err != nil {
			return 1
		}
		rest = rest[used:]
		if stop || used == 0 || len(rest) == 0 {
			return status
		}
	}
}

// formatOnce uses a format once. stop is true after \c.
func formatOnce(format string, args []string) (text string, used int, stop bool, err error) {
	var b strings.Builder
	next := func() string {
		if used == len(args) {
			return ""
		}
		used++
		return args[used-1]
	}
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '\\':
			out, n, end := Unescape(format[i:], false)
			b.WriteString(out)
			i += n - 1
			if end {
				return b.String(), used, true, err
			}
		case c == '%' && i+1 < len(format) && format[i+1] == '%':
			b.WriteByte('%')
			i++
		case c == '%':
			start := i
			i++
			for i < len(format) && strings.IndexByte("-+ #0123456789.*", format[i]) >= 0 {
				i++
			}
			if i == len(format) {
				return b.String(), used, true, errors.New("missing format character")
			}
			flags := format[start:i]
			for strings.Contains(flags, "*") {
				flags = strings.Replace(flags, "*", next(), 1)
			}
			for field := range strings.FieldsFuncSeq(flags, func(r rune) bool { return r < '0' || r > '9' }) {
				if n, err := strconv.Atoi(field); err != nil || n > maxWidth {
					return b.String(), used, true, errors.New("field is too wide")
				}
			}
			out, end, fieldErr := field(flags, format[i], next, used < len(args))
			b.WriteString(out)
			if fieldErr != nil {
				err = fieldErr
			}
			if end {
				return b.String(), used, true, err
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), used, false, err
}

// field formats one argument.
func field(flags string, verb byte, next func() string, given bool) (text string, stop bool, err error) {
	switch verb {
	case 's':
		return fmt.Sprintf(flags+"s", next()), false, nil
	case 'b':
		var b strings.Builder
		arg := next()
		for i := 0; i < len(arg); {
			out, n, end := Unescape(arg[i:], true)
			b.WriteString(out)
			if end {
				return b.String(), true, nil
			}
			i += n
		}
		return fmt.Sprintf(flags+"s", b.String()), false, nil
	case 'c':
		arg := next()
		return fmt.Sprintf(flags+"s", arg[:min(1, len(arg))]), false, nil
	case 'q':
		return strconv.Quote(next()), false, nil
	case 'd', 'i', 'u', 'x', 'X', 'o':
		arg := next()
		n, err := integer(arg, given)
		if verb == 'i' || verb == 'u' {
			verb = 'd'
		}
		return fmt.Sprintf(flags+string(verb), n), false, err
	case 'f', 'F', 'e', 'E', 'g', 'G':
		arg := next()
		n, err := strconv.ParseFloat(arg, 64)
		if err != nil && given {
			err = fmt.Errorf("invalid number '%s'", arg)
		} else {
			err = nil
		}
		return fmt.Sprintf(flags+string(verb), n), false, err
	}
	return "", true, fmt.Errorf("%%%c: invalid format", verb)
}

func integer(arg string, given bool) (int64, error) {
	if !given || arg == "" {
		return 0, nil
	}
	if arg[0] == '\'' || arg[0] == '"' {
		for _, r := range arg[1:] {
			return int64(r), nil
		}
	}
	n, err := strconv.ParseInt(arg, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid number '%s'", arg)
	}
	return n, nil
}

// Unescape reads one character, or an escape such as \n. It returns what that
// stands for and how long it is; end is true for \c. With octal0, as in echo -e,
// octal escapes begin with 0.
func Unescape(text string, octal0 bool) (out string, n int, end bool) {
	if text[0] != '\\' || len(text) == 1 {
		return text[:1], 1, false
	}
	switch c := text[1]; c {
	case 'a':
		return "\a", 2, false
	case 'b':
		return "\b", 2, false
	case 'e', 'E':
		return "\x1b", 2, false
	case 'f':
		return "\f", 2, false
	case 'n':
		return "\n", 2, false
	case 'r':
		return "\r", 2, false
	case 't':
		return "\t", 2, false
	case 'v':
		return "\v", 2, false
	case '\\', '"', '\'':
		if c == '\'' && octal0 {
			return `\'`, 2, false
		}
		return string(c), 2, false
	case 'c':
		return "", 2, true
	case 'x':
		return digits(text, 2, 2, 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if octal0 && c == '0' {
			return digits(text, 2, 3, 8)
		}
		return digits(text, 1, 3, 8)
	}
	return text[:2], 2, false
}

// digits reads a number of at most most digits from a place on.
func digits(text string, from, most, base int) (string, int, bool) {
	to := from
	for to < len(text) && to < from+most {
		if _, err := strconv.ParseUint(text[to:to+1], base, 8); err != nil {
			break
		}
		to++
	}
	value, err := strconv.ParseUint(text[from:to], base, 16)
	if err != nil {
		return string(rune(0)), to, false
	}
	return string([]byte{byte(value)}), to, false
}
