package tools

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/md5"  //nolint:gosec // a checksum of files
	"crypto/sha1" //nolint:gosec // a checksum of files
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/shell"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

func ls(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "laA1hRdtrSFiLnsp", map[string]rune{"all": 'a', "color": 'F'})
	if !ok {
		return 1
	}
	names := o.rest
	if len(names) == 0 {
		names = []string{"."}
	}
	status := 0
	var files []fs.FileInfo
	var dirs []string
	for _, name := range names {
		i, err := p.Machine.FS().Lstat(p.Path(name))
		if target, statErr := info(p, name); statErr == nil && target.IsDir() && !o.given['l'] {
			i, err = target, nil
		}
		switch {
		case err != nil:
			status = failed(p, name, err)
		case i.IsDir() && !o.given['d']:
			dirs = append(dirs, name)
		default:
			files = append(files, named{i, name})
		}
	}
	listFiles(p, o, files, ".")
	for i, dir := range dirs {
		if len(names) > 1 || o.given['R'] {
			if i > 0 || len(files) > 0 {
				p.Printf("\n")
			}
			p.Printf("%s:\n", dir)
		}
		status = max(status, listDir(ctx, p, o, dir, 0))
	}
	return status
}

func listDir(ctx context.Context, p *process.Process, o options, dir string, depth int) int {
	if err := p.Machine.Use(ctx, 5); err != nil {
		return code(err)
	}
	entries, err := p.Machine.FS().ReadDir(p.Path(dir))
	if err != nil {
		return failed(p, dir, err)
	}
	var infos []fs.FileInfo
	if o.given['a'] {
		for _, name := range []string{".", ".."} {
			if i, err := info(p, path.Join(dir, name)); err == nil {
				infos = append(infos, named{i, name})
			}
		}
	}
	var below []string
	for _, e := range entries {
		i, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), ".") && !o.has("aA") {
			continue
		}
		infos = append(infos, i)
		if i.IsDir() {
			below = append(below, path.Join(dir, e.Name()))
		}
	}
	listFiles(p, o, infos, dir)
	if o.given['R'] && depth < 64 {
		for _, sub := range below {
			p.Printf("\n%s:\n", sub)
			listDir(ctx, p, o, sub, depth+1)
		}
	}
	return 0
}

type named struct {
	fs.FileInfo
	name string
}

// Name implements fs.FileInfo.
func (n named) Name() string { return n.name }

func listFiles(p *process.Process, o options, infos []fs.FileInfo, dir string) {
	switch {
	case o.given['t']:
		slices.SortStableFunc(infos, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	case o.given['S']:
		slices.SortStableFunc(infos, func(a, b fs.FileInfo) int { return cmp.Compare(b.Size(), a.Size()) })
	}
	if o.given['r'] {
		slices.Reverse(infos)
	}
	if o.has("ln") && dir != "." || o.given['l'] && len(infos) > 0 && dir == "." {
		blocks := int64(0)
		for _, i := range infos {
			blocks += (i.Size() + 4095) / 4096 * 4
		}
		if !o.given['d'] {
			p.Printf("total %d\n", blocks)
		}
	}
	for _, i := range infos {
		name := i.Name()
		if o.has("Fp") && i.IsDir() {
			name += "/"
		}
		if !o.has("ln") {
			p.Printf("%s\n", name)
			continue
		}
		if i.Mode()&fs.ModeSymlink != 0 {
			if target, err := p.Machine.FS().Readlink(p.Path(path.Join(dir, i.Name()))); err == nil {
				name += " -> " + target
			}
		}
		size := strconv.FormatInt(i.Size(), 10)
		if o.given['h'] {
			size = human(i.Size())
		}
		if i.IsDir() {
			size = "4096"
		}
		p.Printf("%s    1 root     root     %9s %s %s\n", modeText(i.Mode()), size, i.ModTime().UTC().Format("Jan _2 15:04"), name)
	}
}

func human(n int64) string {
	f := float64(n)
	for _, unit := range []string{"", "K", "M", "G", "T"} {
		if f < 1024 {
			if unit == "" {
				return strconv.FormatInt(n, 10)
			}
			return fmt.Sprintf("%.1f%s", f, unit)
		}
		f /= 1024
	}
	return fmt.Sprintf("%.1fP", f)
}

// modeText is a mode as ls shows it.
func modeText(m fs.FileMode) string {
	kind := byte('-')
	switch {
	case m.IsDir():
		kind = 'd'
	case m&fs.ModeSymlink != 0:
		kind = 'l'
	case m&fs.ModeCharDevice != 0:
		kind = 'c'
	}
	text := []byte(m.Perm().String())
	text[0] = kind
	return string(text)
}

func mkdir(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "pm:v", map[string]rune{"parents": 'p'})
	if !ok {
		return 1
	}
	status := 0
	for _, name := range o.rest {
		var err error
		if o.given['p'] {
			err = p.Machine.FS().MkdirAll(p.Path(name), 0o755)
		} else {
			err = p.Machine.FS().Mkdir(p.Path(name), 0o755)
		}
		if err != nil {
			p.Errorf("can't create directory '%s': %s", name, shell.Message(err))
			status = 1
		}
	}
	return status
}

func rmdir(_ context.Context, p *process.Process) int {
	status := 0
	for _, name := range p.Args[1:] {
		i, err := info(p, name)
		if err == nil && !i.IsDir() {
			err = vfs.ErrNotDir
		}
		if err == nil {
			err = p.Machine.FS().Remove(p.Path(name), false)
		}
		if err != nil {
			status = failed(p, "'"+name+"'", err)
		}
	}
	return status
}

func rm(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "rRfiv", map[string]rune{"recursive": 'r', "force": 'f', "no-preserve-root": 'i'})
	if !ok {
		return 1
	}
	status := 0
	for _, name := range o.rest {
		full := p.Path(name)
		i, err := p.Machine.FS().Lstat(full)
		switch {
		case err != nil && o.given['f']:
			continue
		case err == nil && i.IsDir() && !o.has("rR"):
			p.Errorf("'%s' is a directory", name)
			status = 1
			continue
		case err == nil:
			err = removeAll(p, full)
		}
		if err != nil {
			p.Errorf("can't remove '%s': %s", name, shell.Message(err))
			status = 1
		}
	}
	return status
}

// removeAll empties a mount point, or the root, as far as that goes.
func removeAll(p *process.Process, name string) error {
	err := p.Machine.FS().Remove(name, true)
	if !errors.Is(err, vfs.ErrBusy) {
		return err
	}
	entries, readErr := p.Machine.FS().ReadDir(name)
	if readErr != nil {
		return readErr
	}
	for _, e := range entries {
		_ = p.Machine.FS().Remove(path.Join(name, e.Name()), true)
	}
	return err
}

func cp(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "rRafpvLPdTu", map[string]rune{"recursive": 'r', "archive": 'a'})
	if !ok || len(o.rest) < 2 {
		p.Errorf("missing file operand")
		return 1
	}
	target := o.rest[len(o.rest)-1]
	into, err := info(p, target)
	isDir := err == nil && into.IsDir()
	if len(o.rest) > 2 && !isDir {
		p.Errorf("%s: Not a directory", target)
		return 1
	}
	status := 0
	for _, name := range o.rest[:len(o.rest)-1] {
		to := p.Path(target)
		if isDir {
			to = path.Join(to, path.Base(p.Path(name)))
		}
		status = max(status, copyTree(ctx, p, p.Path(name), to, o.has("rRa"), 0))
	}
	return status
}

func copyTree(ctx context.Context, p *process.Process, from, to string, recursive bool, depth int) int {
	i, err := p.Machine.FS().Stat(from)
	switch {
	case err != nil:
		p.Errorf("can't stat '%s': %s", from, shell.Message(err))
		return 1
	case i.IsDir() && !recursive:
		p.Errorf("omitting directory '%s'", from)
		return 1
	case i.IsDir():
		if depth > 64 || strings.HasPrefix(to, from+"/") {
			p.Errorf("recursion detected, omitting directory '%s'", from)
			return 1
		}
		if err := p.Machine.FS().MkdirAll(to, i.Mode().Perm()); err != nil {
			return failed(p, to, err)
		}
		entries, err := p.Machine.FS().ReadDir(from)
		if err != nil {
			return failed(p, from, err)
		}
		status := 0
		for _, e := range entries {
			status = max(status, copyTree(ctx, p, path.Join(from, e.Name()), path.Join(to, e.Name()), true, depth+1))
		}
		return status
	}
	return copyFile(ctx, p, from, to, i.Mode())
}

func copyFile(ctx context.Context, p *process.Process, from, to string, mode fs.FileMode) int {
	source, err := p.Machine.FS().Open(from, 0)
	if err != nil {
		return cantOpen(p, from, err)
	}
	target, err := p.Machine.FS().Open(to, vfs.Write|vfs.Create|vfs.Truncate)
	if err != nil {
		p.Errorf("can't create '%s': %s", to, shell.Message(err))
		return 1
	}
	if err := transfer(ctx, p, target, source); err != nil {
		if code(err) > 128 {
			return code(err)
		}
		return failed(p, to, err)
	}
	if err := p.Machine.FS().Chmod(to, mode); err != nil {
		return failed(p, to, err)
	}
	return 0
}

func mv(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "fivnT", nil)
	if !ok || len(o.rest) < 2 {
		p.Errorf("missing file operand")
		return 1
	}
	target := o.rest[len(o.rest)-1]
	into, err := info(p, target)
	status := 0
	for _, name := range o.rest[:len(o.rest)-1] {
		to := p.Path(target)
		if err == nil && into.IsDir() {
			to = path.Join(to, path.Base(p.Path(name)))
		}
		renameErr := p.Machine.FS().Rename(p.Path(name), to)
		if renameErr == nil {
			continue
		}
		if _, statErr := info(p, name); statErr != nil {
			p.Errorf("can't rename '%s': %s", name, shell.Message(statErr))
			status = 1
			continue
		}
		// As mv does it between two file systems.
		if copied := copyTree(ctx, p, p.Path(name), to, true, 0); copied != 0 {
			status = copied
			continue
		}
		if err := removeAll(p, p.Path(name)); err != nil {
			status = failed(p, name, err)
		}
	}
	return status
}

func ln(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "sfnvT", nil)
	if !ok || len(o.rest) == 0 {
		return 1
	}
	target, name := o.rest[0], path.Base(o.rest[0])
	if len(o.rest) > 1 {
		name = o.rest[1]
		if i, err := info(p, name); err == nil && i.IsDir() && !o.has("nT") {
			name = path.Join(name, path.Base(target))
		}
	}
	if o.given['f'] {
		_ = p.Machine.FS().Remove(p.Path(name), false)
	}
	if !o.given['s'] {
		target = p.Path(target) // hard links are links here
	}
	if err := p.Machine.FS().Symlink(target, p.Path(name)); err != nil {
		return failed(p, name, err)
	}
	return 0
}

func touch(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "camd:t:r:", nil)
	if !ok {
		return 1
	}
	status := 0
	for _, name := range o.rest {
		if _, err := p.Machine.FS().Open(p.Path(name), vfs.Create); err != nil && !errors.Is(err, vfs.ErrIsDir) {
			status = failed(p, name, err)
			continue
		}
		if err := p.Machine.FS().Touch(p.Path(name), p.Machine.Clock().Now()); err != nil {
			status = failed(p, name, err)
		}
	}
	return status
}

func chmod(_ context.Context, p *process.Process) int {
	var args []string
	for _, a := range p.Args[1:] {
		if a != "-R" && a != "-v" && a != "-f" {
			args = append(args, a)
		}
	}
	if len(args) < 2 {
		p.Errorf("missing operand")
		return 1
	}
	status := 0
	for _, name := range args[1:] {
		i, err := info(p, name)
		if err != nil {
			status = failed(p, name, err)
			continue
		}
		perm, err := strconv.ParseUint(args[0], 8, 12)
		mode := fs.FileMode(perm)
		if err != nil {
			mode = symbolicMode(i.Mode().Perm(), args[0])
		}
		if err := p.Machine.FS().Chmod(p.Path(name), mode); err != nil {
			status = failed(p, name, err)
		}
	}
	return status
}

// symbolicMode reads modes such as u+x,go-w.
func symbolicMode(mode fs.FileMode, spec string) fs.FileMode {
	for part := range strings.SplitSeq(spec, ",") {
		at := strings.IndexAny(part, "+-=")
		if at < 0 {
			continue
		}
		var who, what fs.FileMode
		for _, c := range cmp.Or(part[:at], "a") {
			who |= map[rune]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}[c]
		}
		for _, c := range part[at+1:] {
			what |= map[rune]fs.FileMode{'r': 0o444, 'w': 0o222, 'x': 0o111, 'X': 0o111}[c]
		}
		switch part[at] {
		case '+':
			mode |= who & what
		case '-':
			mode &^= who & what
		default:
			mode = mode&^who | who&what
		}
	}
	return mode
}

func stat(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "c:Lf", map[string]rune{"format": 'c'})
	if !ok {
		return 1
	}
	status := 0
	for _, name := range o.rest {
		i, err := p.Machine.FS().Lstat(p.Path(name))
		if err != nil {
			p.Errorf("can't stat '%s': %s", name, shell.Message(err))
			status = 1
			continue
		}
		if format, ok := o.value['c']; ok {
			p.Printf("%s\n", strings.NewReplacer("%s", strconv.FormatInt(i.Size(), 10), "%n", name, "%a", strconv.FormatUint(uint64(i.Mode().Perm()), 8),
				"%A", modeText(i.Mode()), "%U", "root", "%G", "root", "%u", "0", "%g", "0", "%Y", strconv.FormatInt(i.ModTime().Unix(), 10)).Replace(format))
			continue
		}
		p.Printf("  File: %s\n  Size: %d\nAccess: (%04o/%s)  Uid: (    0/    root)   Gid: (    0/    root)\nModify: %s\n",
			name, i.Size(), i.Mode().Perm(), modeText(i.Mode()), i.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700"))
	}
	return status
}

func readlink(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "fnem", nil)
	if !ok || len(o.rest) == 0 {
		return 1
	}
	target, err := p.Machine.FS().Readlink(p.Path(o.rest[0]))
	if o.has("fem") {
		target, err = p.Machine.FS().Real(p.Path(o.rest[0]))
	}
	if err != nil {
		return 1
	}
	p.Printf("%s\n", target)
	return 0
}

func realpath(_ context.Context, p *process.Process) int {
	status := 0
	for _, name := range p.Args[1:] {
		target, err := p.Machine.FS().Real(p.Path(name))
		if err != nil {
			status = failed(p, name, err)
			continue
		}
		p.Printf("%s\n", target)
	}
	return status
}

// walk calls do for a file and all below it.
func walk(ctx context.Context, p *process.Process, name string, depth int, do func(name string, i fs.FileInfo, depth int) error) error {
	if err := p.Machine.Use(ctx, 2); err != nil {
		return err
	}
	i, err := p.Machine.FS().Lstat(p.Path(name))
	if err != nil {
		return err
	}
	if err := do(name, i, depth); err != nil || !i.IsDir() || depth > 64 {
		return err
	}
	entries, err := p.Machine.FS().ReadDir(p.Path(name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := strings.TrimSuffix(name, "/") + "/" + e.Name()
		if err := walk(ctx, p, below, depth+1, do); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func walkFiles(p *process.Process, names []string) []string {
	if len(names) == 0 {
		names = []string{"."}
	}
	var files []string
	for _, name := range names {
		_ = walk(p.Machine.Context(), p, name, 0, func(name string, i fs.FileInfo, _ int) error {
			if i.Mode().IsRegular() {
				files = append(files, name)
			}
			return nil
		})
	}
	return files
}

func find(ctx context.Context, p *process.Process) int {
	args := p.Args[1:]
	var roots []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "!" {
		roots, args = append(roots, args[0]), args[1:]
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	tests, action, most, least, err := findTests(ctx, p, args)
	if err != nil {
		p.Errorf("%s", err)
		return 1
	}
	status := 0
	for _, root := range roots {
		err := walk(ctx, p, root, 0, func(name string, i fs.FileInfo, depth int) error {
			if depth > most || depth < least {
				return nil
			}
			for _, t := range tests {
				if !t(name, i) {
					return nil
				}
			}
			return action(name)
		})
		if err != nil {
			status = failed(p, root, err)
		}
	}
	return status
}

func findTests(ctx context.Context, p *process.Process, args []string) (tests []func(string, fs.FileInfo) bool, action func(string) error, most, least int, err error) {
	most = 64
	action = func(name string) error {
		p.Printf("%s\n", name)
		return nil
	}
	negate := false
	for i := 0; i < len(args); i++ {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		var t func(string, fs.FileInfo) bool
		switch args[i] {
		case "!", "-not":
			negate = true
			continue
		case "-print", "-a":
			continue
		case "-name", "-iname":
			t = func(name string, _ fs.FileInfo) bool {
				ok, _ := path.Match(value, path.Base(name))
				return ok
			}
		case "-path":
			t = func(name string, _ fs.FileInfo) bool {
				ok, _ := path.Match(value, name)
				return ok
			}
		case "-type":
			t = func(_ string, i fs.FileInfo) bool {
				return value == "f" && i.Mode().IsRegular() || value == "d" && i.IsDir() || value == "l" && i.Mode()&fs.ModeSymlink != 0
			}
		case "-maxdepth":
			most, _ = strconv.Atoi(value)
		case "-mindepth":
			least, _ = strconv.Atoi(value)
		case "-delete":
			action = func(name string) error { return p.Machine.FS().Remove(p.Path(name), false) }
			continue
		case "-exec":
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			command := args[i+1 : end]
			action = func(name string) error {
				words := slices.Clone(command)
				for j := range words {
					words[j] = strings.ReplaceAll(words[j], "{}", name)
				}
				run(ctx, p, words, nil)
				return nil
			}
			i = end
			continue
		case "-mtime", "-mmin", "-newer", "-size", "-perm", "-user":
			t = func(string, fs.FileInfo) bool { return true }
		default:
			return nil, nil, 0, 0, fmt.Errorf("unrecognized: %s", args[i])
		}
		i++
		if t != nil {
			wanted := !negate
			tests = append(tests, func(name string, i fs.FileInfo) bool { return t(name, i) == wanted })
			negate = false
		}
	}
	return tests, action, most, least, nil
}

func du(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "shkad:cm", nil)
	if !ok {
		return 1
	}
	names := o.rest
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		total := int64(0)
		err := walk(ctx, p, name, 0, func(_ string, i fs.FileInfo, _ int) error {
			total += (i.Size() + 4095) / 4096 * 4096
			return nil
		})
		if err != nil {
			return failed(p, name, err)
		}
		if o.given['h'] {
			p.Printf("%s\t%s\n", human(total), name)
		} else {
			p.Printf("%d\t%s\n", total/1024, name)
		}
	}
	return 0
}

func df(_ context.Context, p *process.Process) int {
	p.Printf("Filesystem           1K-blocks      Used Available Use%% Mounted on\noverlay              104857600  10485760  94371840  10%% /\ntmpfs                    65536         0     65536   0%% /dev\n")
	return 0
}

func mount(_ context.Context, p *process.Process) int {
	p.Printf("overlay on / type overlay (rw,relatime)\nproc on /proc type proc (rw,nosuid,nodev,noexec,relatime)\ntmpfs on /dev type tmpfs (rw,nosuid,size=65536k,mode=755)\n")
	return 0
}

// dd copies blocks; what it holds of one counts as memory.
func dd(ctx context.Context, p *process.Process) int {
	set := map[string]string{"if": "-", "of": "", "bs": "512", "count": ""}
	for _, a := range p.Args[1:] {
		k, v, _ := strings.Cut(a, "=")
		set[k] = v
	}
	block, err := size(set["bs"])
	if err != nil || block == 0 {
		p.Errorf("invalid number '%s'", set["bs"])
		return 1
	}
	if err := p.Machine.Claim(block); err != nil {
		return code(err)
	}
	defer func() { _ = p.Machine.Claim(-block) }()
	in, err := open(p, set["if"])
	if err != nil {
		return cantOpen(p, set["if"], err)
	}
	out := p.Stdout
	if set["of"] != "" {
		if out, err = p.Machine.FS().Open(p.Path(set["of"]), vfs.Write|vfs.Create|vfs.Truncate); err != nil {
			return cantOpen(p, set["of"], err)
		}
	}
	if set["count"] != "" {
		n, err := size(set["count"])
		if err != nil || n > 1<<40/block {
			p.Errorf("invalid number '%s'", set["count"])
			return 1
		}
		in = io.LimitReader(in, n*block)
	}
	counter := &counting{r: in}
	if err := transfer(ctx, p, out, counter); err != nil {
		if code(err) > 128 {
			return code(err)
		}
		p.Errorf("error writing: %s", shell.Message(err))
		return 1
	}
	full, part := int64(counter.bytes)/block, btoi(int64(counter.bytes)%block > 0)
	fmt.Fprintf(p.Stderr, "%d+%d records in\n%d+%d records out\n%d bytes copied\n", full, part, full, part, counter.bytes)
	return 0
}

func mktemp(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "dp:tuq", nil)
	if !ok {
		return 1
	}
	template := "tmp.XXXXXX"
	if len(o.rest) > 0 {
		template = o.rest[0]
	}
	name := template
	if !strings.Contains(name, "/") {
		name = path.Join(cmp.Or(o.value['p'], "/tmp"), name)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", p.PID, p.Machine.Clock().Now().UnixNano()))
	for strings.Contains(name, "X") {
		sum = sha256.Sum256(sum[:])
		name = strings.Replace(name, "X", string("abcdefghijklmnopqrstuvwxyz0123456789"[sum[0]%36]), 1)
	}
	if err := p.Machine.FS().MkdirAll(path.Dir(p.Path(name)), 0o777); err != nil {
		return failed(p, name, err)
	}
	err := error(nil)
	if o.given['d'] {
		err = p.Machine.FS().Mkdir(p.Path(name), 0o700)
	} else {
		err = p.Machine.FS().WriteFile(p.Path(name), nil)
	}
	if err != nil {
		return failed(p, name, err)
	}
	p.Printf("%s\n", name)
	return 0
}

func truncate(_ context.Context, p *process.Process) int {
	o, ok := parse(p, "s:c", nil)
	if !ok {
		return 1
	}
	n, err := size(o.value['s'])
	if err != nil || n > 64<<20 {
		p.Errorf("invalid size '%s'", o.value['s'])
		return 1
	}
	for _, name := range o.rest {
		if err := p.Machine.FS().WriteFile(p.Path(name), nil); err != nil {
			return failed(p, name, err)
		}
		file, err := p.Machine.FS().Open(p.Path(name), vfs.Write)
		if err != nil {
			return failed(p, name, err)
		}
		zeros := make([]byte, 4096)
		for left := n; left > 0; left -= int64(len(zeros)) {
			if _, err := file.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
				return failed(p, name, err)
			}
		}
	}
	return 0
}

func md5sum(ctx context.Context, p *process.Process) int    { return checksum(ctx, p, md5.New()) }  //nolint:gosec // a checksum
func sha1sum(ctx context.Context, p *process.Process) int   { return checksum(ctx, p, sha1.New()) } //nolint:gosec // a checksum
func sha256sum(ctx context.Context, p *process.Process) int { return checksum(ctx, p, sha256.New()) }

func checksum(ctx context.Context, p *process.Process, h hash.Hash) int {
	names := p.Args[1:]
	if len(names) == 0 {
		names = []string{"-"}
	}
	status := 0
	for _, name := range names {
		r, err := open(p, name)
		if err != nil {
			status = cantOpen(p, name, err)
			continue
		}
		h.Reset()
		if err := transfer(ctx, p, h, r); err != nil {
			return code(err)
		}
		p.Printf("%s  %s\n", hex.EncodeToString(h.Sum(nil)), name)
	}
	return status
}

func base64Program(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "dDw:i", map[string]rune{"decode": 'd', "wrap": 'w'})
	if !ok {
		return 1
	}
	name := "-"
	if len(o.rest) > 0 {
		name = o.rest[0]
	}
	r, err := open(p, name)
	if err != nil {
		return cantOpen(p, name, err)
	}
	if o.has("dD") {
		if err := transfer(ctx, p, p.Stdout, base64.NewDecoder(base64.StdEncoding, r)); err != nil {
			p.Errorf("invalid input")
			return 1
		}
		return 0
	}
	data, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return code(err)
	}
	text := base64.StdEncoding.EncodeToString(data)
	width, err := o.number('w', 76)
	if err != nil {
		return 1
	}
	for width > 0 && len(text) > width {
		p.Printf("%s\n", text[:width])
		text = text[width:]
	}
	p.Printf("%s\n", text)
	return 0
}

func od(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "A:t:cCvxn:N:bd", nil)
	if !ok {
		return 1
	}
	name := "-"
	if len(o.rest) > 0 {
		name = o.rest[0]
	}
	r, err := open(p, name)
	if err != nil {
		return cantOpen(p, name, err)
	}
	if most, ok := o.value['N']; ok {
		if n, err := size(most); err == nil {
			r = io.LimitReader(r, n)
		}
	}
	dump := hex.Dumper(p.Stdout)
	if err := transfer(ctx, p, dump, r); err != nil {
		return code(err)
	}
	_ = dump.Close()
	return 0
}

// tarProgram makes and unpacks archives, for kubectl cp among others.
func tarProgram(ctx context.Context, p *process.Process) int {
	if len(p.Args) > 1 && !strings.HasPrefix(p.Args[1], "-") {
		p.Args = slices.Concat(p.Args[:1], []string{"-" + p.Args[1]}, p.Args[2:])
	}
	o, ok := parse(p, "cxtvf:C:mpozhPk", map[string]rune{"no-same-permissions": 'p', "no-same-owner": 'o', "warning": 'k'})
	if !ok {
		return 1
	}
	dir := p.Path(cmp.Or(o.value['C'], "."))
	archive := cmp.Or(o.value['f'], "-")
	var err error
	switch {
	case o.given['z']:
		err = errors.New("compressed archives are not supported")
	case o.given['c']:
		out := p.Stdout
		if archive != "-" {
			if out, err = p.Machine.FS().Open(p.Path(archive), vfs.Write|vfs.Create|vfs.Truncate); err != nil {
				return cantOpen(p, archive, err)
			}
		}
		err = packTar(ctx, p, out, dir, o.rest)
	default:
		in, openErr := open(p, archive)
		if openErr != nil {
			return cantOpen(p, archive, openErr)
		}
		err = unpackTar(ctx, p, in, dir, o)
	}
	if err != nil {
		p.Errorf("%s", shell.Message(err))
		return 1
	}
	return 0
}

func packTar(ctx context.Context, p *process.Process, out io.Writer, dir string, names []string) error {
	w := tar.NewWriter(out)
	in := p.Like(p.Args)
	in.Dir = dir
	for _, name := range names {
		err := walk(ctx, in, name, 0, func(name string, i fs.FileInfo, _ int) error {
			link := ""
			if i.Mode()&fs.ModeSymlink != 0 {
				var err error
				if link, err = p.Machine.FS().Readlink(in.Path(name)); err != nil {
					return err
				}
			}
			if !i.Mode().IsRegular() && !i.IsDir() && link == "" {
				return nil
			}
			header, err := tar.FileInfoHeader(i, link)
			if err != nil {
				return err
			}
			header.Name = strings.TrimPrefix(name, "/")
			if i.IsDir() {
				header.Name += "/"
			}
			if err := w.WriteHeader(header); err != nil || !i.Mode().IsRegular() {
				return err
			}
			data, err := p.Machine.FS().ReadFile(in.Path(name))
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return w.Close()
}

func unpackTar(ctx context.Context, p *process.Process, in io.Reader, dir string, o options) error {
	r := tar.NewReader(in)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if o.has("tv") {
			p.Printf("%s\n", header.Name)
		}
		if o.given['t'] {
			continue
		}
		name := path.Join(dir, path.Join("/", header.Name))
		disk := p.Machine.FS()
		switch header.Typeflag {
		case tar.TypeDir:
			err = disk.MkdirAll(name, 0o755)
		case tar.TypeSymlink:
			err = disk.Symlink(header.Linkname, name)
		case tar.TypeReg:
			if err = disk.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
			var file *vfs.File
			if file, err = disk.Open(name, vfs.Write|vfs.Create|vfs.Truncate); err != nil {
				return err
			}
			if err = transfer(ctx, p, file, r); err == nil {
				err = disk.Chmod(name, fs.FileMode(header.Mode).Perm())
			}
		}
		if err != nil {
			return err
		}
	}
}
