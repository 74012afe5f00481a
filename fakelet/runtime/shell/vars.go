package shell

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// scope holds variables; that of a function covers those outside of it.
type scope struct {
	outer  *scope
	values map[string]expand.Variable
}

func newScope(env map[string]string) *scope {
	sc := &scope{values: make(map[string]expand.Variable, len(env))}
	for name, value := range env {
		sc.values[name] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
	}
	return sc
}

// Get returns a variable, the zero one if there is none.
func (sc *scope) Get(name string) expand.Variable {
	for ; sc != nil; sc = sc.outer {
		if v, ok := sc.values[name]; ok {
			return v
		}
	}
	return expand.Variable{}
}

// owner is the scope in which a variable is set.
func (sc *scope) owner(name string) *scope {
	for ; sc.outer != nil; sc = sc.outer {
		if _, ok := sc.values[name]; ok {
			return sc
		}
	}
	return sc
}

// copy is the variables as a subshell has them, in one scope.
func (sc *scope) copy() *scope {
	flat := map[string]expand.Variable{}
	for ; sc != nil; sc = sc.outer {
		for name, v := range sc.values {
			if _, ok := flat[name]; !ok {
				flat[name] = v
			}
		}
	}
	return &scope{values: flat}
}

// environ implements expand.WriteEnviron: the shell's variables and parameters.
type environ struct{ s *shell }

// Get implements expand.Environ.
func (e environ) Get(name string) expand.Variable {
	if v, ok := e.s.special(name); ok {
		return v
	}
	if _, ok := strings.CutPrefix(name, "HOME "); ok { // ~user: nobody but root lives here
		return stringVar("/root")
	}
	return e.s.vars.Get(name)
}

// Each implements expand.Environ.
func (e environ) Each(f func(string, expand.Variable) bool) {
	for name, v := range e.s.vars.copy().values {
		if !f(name, v) {
			return
		}
	}
}

// Set implements expand.WriteEnviron.
func (e environ) Set(name string, v expand.Variable) error { return e.s.set(name, v) }

func stringVar(value string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// special are the parameters that the shell itself sets.
func (s *shell) special(name string) (expand.Variable, bool) {
	switch name {
	case "#":
		return stringVar(strconv.Itoa(len(s.params))), true
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: slices.Clone(s.params)}, true
	case "?":
		return stringVar(strconv.Itoa(s.status)), true
	case "$":
		return stringVar(strconv.Itoa(s.p.PID)), true
	case "!":
		if s.lastJob == 0 {
			return expand.Variable{}, true
		}
		return stringVar(strconv.Itoa(s.lastJob)), true
	case "-":
		return stringVar(s.opts.letters()), true
	case "0":
		return stringVar(s.name), true
	case "PPID":
		return stringVar(strconv.Itoa(s.p.PPID)), true
	case "RANDOM":
		s.random = s.random*1664525 + 1013904223
		return stringVar(strconv.Itoa(int(s.random>>16) & 0x7fff)), true
	case "SECONDS":
		return stringVar(strconv.Itoa(int(s.p.Machine.Clock().Since(s.p.Started).Seconds()))), true
	case "EPOCHSECONDS":
		return stringVar(strconv.FormatInt(s.p.Machine.Clock().Now().Unix(), 10)), true
	case "HOSTNAME":
		return stringVar(s.p.Machine.Hostname()), true
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		if n > len(s.params) {
			return expand.Variable{}, true
		}
		return stringVar(s.params[n-1]), true
	}
	return expand.Variable{}, false
}

var errReadOnly = errors.New("readonly variable")

// set sets a variable, or unsets it if v is not set.
func (s *shell) set(name string, v expand.Variable) error {
	if !syntax.ValidName(name) {
		return errors.New(name + ": bad variable name")
	}
	owner := s.vars.owner(name)
	if v.Local && s.inFunc {
		owner = s.vars
	}
	old := owner.values[name]
	switch {
	case v.Kind == expand.KeepValue:
		v.Kind, v.Str, v.List, v.Map, v.Set = old.Kind, old.Str, old.List, old.Map, old.Set
	case old.ReadOnly:
		return errors.New(name + ": " + errReadOnly.Error())
	}
	if v.Exported = v.Exported || old.Exported || s.opts.allexport; !v.Set && !v.Exported && !v.Local {
		s.weigh(-sizeOf(old))
		delete(owner.values, name)
		return nil
	}
	size := sizeOf(v)
	s.owe(size)
	if size > maxVariable {
		return errors.New(name + ": value too large")
	}
	if err := s.weigh(size - sizeOf(old)); err != nil {
		return err
	}
	owner.values[name] = v
	return nil
}

// owe charges work on so many bytes, which the next statement pays.
func (s *shell) owe(size int64) { s.debt += int(size / 64) }

// weigh charges the memory of variables.
func (s *shell) weigh(n int64) error {
	err := s.p.Machine.Grow(n)
	if err == nil {
		s.held += n
	}
	return err
}

func sizeOf(v expand.Variable) int64 {
	size := len(v.Str)
	for _, e := range v.List {
		size += len(e) + 16
	}
	for k, e := range v.Map {
		size += len(k) + len(e) + 64
	}
	return int64(size)
}

func (s *shell) setString(name, value string) {
	if err := s.set(name, stringVar(value)); err != nil {
		s.errorf("%s", err)
		s.status = 1
	}
}

func (s *shell) setDefault(name, value string) {
	if !s.vars.Get(name).IsSet() {
		s.setString(name, value)
	}
}

// exported are the variables that a command gets.
func (s *shell) exported() map[string]string {
	env := map[string]string{}
	for name, v := range s.vars.copy().values {
		s.owe(32)
		if v.Exported && v.Set && v.Kind == expand.String {
			env[name] = v.Str
		}
	}
	return env
}

// assign carries out name=value, name+=value, name[i]=value and name=(…).
func (s *shell) assign(cfg *expand.Config, a *syntax.Assign, attributes expand.Variable) error {
	name := a.Name.Value
	old := s.vars.Get(name)
	v := attributes
	v.Set = true
	switch {
	case a.Naked:
		v.Kind = expand.KeepValue
		return s.set(name, v)
	case a.Array != nil:
		if err := s.array(cfg, a, old, &v); err != nil {
			return err
		}
	case a.Index != nil:
		if err := s.element(cfg, a, old, &v); err != nil {
			return err
		}
	default:
		value := ""
		if a.Value != nil {
			var err error
			if value, err = s.literal(cfg, a.Value); err != nil {
				return err
			}
		}
		v.Kind, v.Str = expand.String, value
		if a.Append {
			v.Str = old.String() + value
		}
	}
	return s.set(name, v)
}

func (s *shell) array(cfg *expand.Config, a *syntax.Assign, old expand.Variable, v *expand.Variable) error {
	if v.Kind == expand.Associative || old.Kind == expand.Associative {
		v.Kind, v.Map = expand.Associative, map[string]string{}
		if a.Append {
			v.Map = maps.Clone(old.Map)
		}
		for _, e := range a.Array.Elems {
			key, err := s.key(cfg, e.Index)
			if err != nil {
				return err
			}
			if v.Map[key], err = s.literal(cfg, e.Value); err != nil {
				return err
			}
		}
		return nil
	}
	v.Kind = expand.Indexed
	if a.Append {
		v.List = slices.Clone(old.List)
	}
	for _, e := range a.Array.Elems {
		if e.Index == nil {
			fields, err := s.fields(cfg, e.Value)
			if err != nil {
				return err
			}
			v.List = append(v.List, fields...)
			continue
		}
		value, err := s.literal(cfg, e.Value)
		if err != nil {
			return err
		}
		if err := s.put(cfg, e.Index, value, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *shell) element(cfg *expand.Config, a *syntax.Assign, old expand.Variable, v *expand.Variable) error {
	value := ""
	if a.Value != nil {
		var err error
		if value, err = s.literal(cfg, a.Value); err != nil {
			return err
		}
	}
	if old.Kind == expand.Associative {
		key, err := s.key(cfg, a.Index)
		if err != nil {
			return err
		}
		v.Kind, v.Map = expand.Associative, maps.Clone(old.Map)
		if v.Map == nil {
			v.Map = map[string]string{}
		}
		if a.Append {
			value = v.Map[key] + value
		}
		v.Map[key] = value
		return nil
	}
	v.Kind, v.List = expand.Indexed, slices.Clone(old.List)
	if old.Kind == expand.String {
		v.List = []string{old.Str}
	}
	return s.put(cfg, a.Index, value, v)
}

// put sets an element of an indexed array, which is filled up to there.
func (s *shell) put(cfg *expand.Config, index syntax.ArithmExpr, value string, v *expand.Variable) error {
	i, err := expand.Arithm(cfg, index)
	switch {
	case err != nil:
		return err
	case i < 0:
		i += len(v.List)
	}
	if i < 0 || i > maxVariable/16 {
		return errors.New("bad array subscript")
	}
	for len(v.List) <= i {
		v.List = append(v.List, "")
	}
	v.List[i] = value
	return nil
}

func (s *shell) key(cfg *expand.Config, index syntax.ArithmExpr) (string, error) {
	if word, ok := index.(*syntax.Word); ok {
		return s.literal(cfg, word)
	}
	i, err := expand.Arithm(cfg, index)
	return strconv.Itoa(i), err
}

// Message is an error as a tool prints it.
func Message(err error) string {
	var in *fs.PathError
	if errors.As(err, &in) {
		err = in.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrExist):
		return "File exists"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	case errors.Is(err, vfs.ErrNoSpace):
		return vfs.ErrNoSpace.Error()
	}
	return err.Error()
}

// signalName is a signal's name in a trap, without SIG.
func signalName(n process.Signal) string {
	for _, name := range []string{"HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "PIPE", "ALRM", "TERM"} {
		if s, err := process.ParseSignal(name); err == nil && s == n {
			return name
		}
	}
	return strconv.Itoa(int(n))
}
