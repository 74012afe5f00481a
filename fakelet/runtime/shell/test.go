package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// test is the command of that name, and [.
func test(_ context.Context, s *shell, args []string) {
	words := args[1:]
	if args[0] == "[" {
		if len(words) == 0 || words[len(words)-1] != "]" {
			s.errorf("[: missing ]")
			s.status = 2
			return
		}
		words = words[:len(words)-1]
	}
	t := tester{s: s, words: words}
	ok := len(words) > 0 && t.or()
	if t.err == nil && len(t.words) > 0 {
		t.err = fmt.Errorf("%s: unexpected operator", t.words[0])
	}
	if t.err != nil {
		s.errorf("%s: %s", args[0], t.err)
		s.status = 2
		return
	}
	s.status = truth(ok)
}

// tester reads an expression of test from left to right.
type tester struct {
	s     *shell
	words []string
	depth int
	err   error
}

func (t *tester) next() string {
	w := t.words[0]
	t.words = t.words[1:]
	return w
}

func (t *tester) accept(word string) bool {
	if len(t.words) > 0 && t.words[0] == word {
		t.words = t.words[1:]
		return true
	}
	return false
}

func (t *tester) or() bool {
	ok := t.and()
	for t.err == nil && t.accept("-o") {
		right := t.and()
		ok = ok || right
	}
	return ok
}

func (t *tester) and() bool {
	ok := t.primary()
	for t.err == nil && t.accept("-a") {
		right := t.primary()
		ok = ok && right
	}
	return ok
}

func (t *tester) primary() bool {
	if t.depth++; t.depth > maxDepth {
		t.err = errors.New("too deep")
	}
	defer func() { t.depth-- }()
	if t.err != nil {
		return false
	}
	if len(t.words) == 0 {
		t.err = errors.New("argument expected")
		return false
	}
	if len(t.words) >= 3 && isBinary(t.words[1]) {
		x, op, y := t.next(), t.next(), t.next()
		ok, err := t.s.compare(x, op, y)
		t.err = err
		return ok
	}
	switch {
	case len(t.words) > 1 && t.words[0] == "!":
		t.next()
		return !t.primary() && t.err == nil
	case len(t.words) > 1 && t.words[0] == "(":
		t.next()
		ok := t.or()
		if !t.accept(")") && t.err == nil {
			t.err = errors.New("closing paren expected")
		}
		return ok
	case len(t.words) > 1 && len(t.words[0]) == 2 && t.words[0][0] == '-':
		op, x := t.next(), t.next()
		ok, err := t.s.unary(op, x)
		t.err = err
		return ok
	}
	return t.next() != ""
}

func isBinary(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func (s *shell) compare(x, op, y string) (bool, error) {
	switch op {
	case "=", "==":
		return x == y, nil
	case "!=":
		return x != y, nil
	case "<":
		return x < y, nil
	case ">":
		return x > y, nil
	case "-nt", "-ot", "-ef":
		a, errA := s.p.Machine.FS().Stat(s.p.Path(x))
		b, errB := s.p.Machine.FS().Stat(s.p.Path(y))
		switch {
		case op == "-ef":
			return errA == nil && errB == nil && s.p.Path(x) == s.p.Path(y), nil
		case errA != nil || errB != nil:
			return (errA == nil) == (op == "-nt") && (errA == nil) != (errB == nil), nil
		case op == "-nt":
			return a.ModTime().After(b.ModTime()), nil
		}
		return a.ModTime().Before(b.ModTime()), nil
	}
	a, err := number(x)
	if err != nil {
		return false, err
	}
	b, err := number(y)
	if err != nil {
		return false, err
	}
	switch op {
	case "-eq":
		return a == b, nil
	case "-ne":
		return a != b, nil
	case "-lt":
		return a < b, nil
	case "-le":
		return a <= b, nil
	case "-gt":
		return a > b, nil
	default:
		return a >= b, nil
	}
}

func number(word string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Illegal number: %s", word)
	}
	return n, nil
}

func (s *shell) unary(op, x string) (bool, error) {
	switch op {
	case "-n":
		return x != "", nil
	case "-z":
		return x == "", nil
	case "-v":
		return environ{s}.Get(x).IsSet(), nil
	case "-o":
		return strings.Contains(s.opts.letters(), x), nil
	case "-t":
		return s.p.TTY, nil
	}
	info, err := s.p.Machine.FS().Lstat(s.p.Path(x))
	if op == "-L" || op == "-h" {
		return err == nil && info.Mode()&fs.ModeSymlink != 0, nil
	}
	info, err = s.p.Machine.FS().Stat(s.p.Path(x))
	if err != nil {
		return false, nil //nolint:nilerr // what can't be looked at is not there
	}
	switch op {
	case "-e", "-a":
		return true, nil
	case "-f":
		return info.Mode().IsRegular(), nil
	case "-d":
		return info.IsDir(), nil
	case "-s":
		return info.Size() > 0, nil
	case "-r", "-w", "-O", "-G":
		return true, nil // everybody is root here
	case "-x":
		return info.IsDir() || info.Mode()&0o111 != 0, nil
	case "-c":
		return info.Mode()&fs.ModeCharDevice != 0, nil
	case "-b", "-p", "-S", "-u", "-g", "-k":
		return false, nil
	}
	return false, fmt.Errorf("%s: unknown operand", op)
}

// bashTest is [[ ]].
func (s *shell) bashTest(ctx context.Context, x syntax.TestExpr) (bool, error) {
	cfg := s.config(ctx)
	switch x := x.(type) {
	case *syntax.Word:
		text, err := s.literal(cfg, x)
		return text != "", err
	case *syntax.ParenTest:
		return s.bashTest(ctx, x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			ok, err := s.bashTest(ctx, x.X)
			return !ok, err
		}
		text, err := s.literal(cfg, x.X.(*syntax.Word))
		if err != nil {
			return false, err
		}
		return s.unary(x.Op.String(), text)
	case *syntax.BinaryTest:
		return s.bashBinary(ctx, cfg, x)
	}
	return false, errors.New("syntax error in test")
}

func (s *shell) bashBinary(ctx context.Context, cfg *expand.Config, x *syntax.BinaryTest) (bool, error) {
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		left, err := s.bashTest(ctx, x.X)
		if err != nil || left == (x.Op == syntax.OrTest) {
			return left, err
		}
		return s.bashTest(ctx, x.Y)
	}
	left, err := s.literal(cfg, x.X.(*syntax.Word))
	if err != nil {
		return false, err
	}
	word := x.Y.(*syntax.Word)
	if err := s.check(word); err != nil {
		return false, err
	}
	switch x.Op {
	case syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch:
		p, err := expand.Pattern(cfg, word)
		if err != nil {
			return false, err
		}
		return match(p, left) == (x.Op != syntax.TsNoMatch), nil
	case syntax.TsReMatch:
		text, err := s.literal(cfg, word)
		if err != nil {
			return false, err
		}
		return s.regexpTest(left, text)
	}
	right, err := s.literal(cfg, word)
	if err != nil {
		return false, err
	}
	return s.compare(left, x.Op.String(), right)
}

func (s *shell) regexpTest(text, expr string) (bool, error) {
	compiled, err := regexp.Compile(expr)
	if err != nil {
		return false, err
	}
	groups := compiled.FindStringSubmatch(text)
	if groups == nil {
		return false, nil
	}
	return true, s.set("BASH_REMATCH", expand.Variable{Set: true, Kind: expand.Indexed, List: groups})
}
