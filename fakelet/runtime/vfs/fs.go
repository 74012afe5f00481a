package vfs

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	maxLinks = 40
	// maxDepth is how many directories a path may go down.
	maxDepth = 128
)

// FS is what a container sees.
type FS struct {
	root   *Tree
	mounts []mount // longest path first
}

type mount struct {
	path     string
	tree     *Tree
	sub      string
	readOnly bool
}

// New returns the view of a root tree.
func New(root *Tree) *FS { return &FS{root: root} }

// Mount shows a tree, or what is below sub in it, at a path. All mounts are made
// before the first use.
func (f *FS) Mount(at string, tree *Tree, sub string, readOnly bool) {
	at = path.Clean("/" + at)
	f.mounts = slices.DeleteFunc(f.mounts, func(m mount) bool { return m.path == at })
	f.mounts = append(f.mounts, mount{path: at, tree: tree, sub: path.Clean("/" + sub), readOnly: readOnly})
	slices.SortStableFunc(f.mounts, func(a, b mount) int { return cmp.Compare(len(b.path), len(a.path)) })
}

// ReadOnlyRoot refuses writes outside of mounts.
func (f *FS) ReadOnlyRoot() {
	f.mounts = append(f.mounts, mount{path: "/", tree: f.root, sub: "/", readOnly: true})
}

// place is where a path leads.
type place struct {
	tree     *Tree
	name     string // in the tree
	path     string // as the container sees it, links followed
	readOnly bool
}

func (f *FS) locate(name string) place {
	for _, m := range f.mounts {
		if m.path == "/" || name == m.path || strings.HasPrefix(name, m.path+"/") {
			return place{m.tree, path.Join(m.sub, strings.TrimPrefix(name, m.path)), name, m.readOnly}
		}
	}
	return place{f.root, name, name, false}
}

// resolve follows links in a path, in its last part too if follow is set.
func (f *FS) resolve(name string, follow bool) (place, error) {
	rest := split(path.Clean("/" + name))
	at, links := "/", 0
	for depth := 0; len(rest) > 0; depth++ {
		if len(rest) > maxDepth || depth > maxDepth*maxLinks {
			return place{}, ErrTooLong
		}
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		if len(rest) == 0 && !follow {
			at = next
			break
		}
		target, err := f.link(next)
		if err != nil {
			return place{}, err
		}
		if target == "" {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return place{}, ErrLoop
		}
		rest = append(split(target), rest...)
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
	}
	p := f.locate(at)
	return p, nil
}

// link is the target of a symbolic link, "" for anything else.
func (f *FS) link(name string) (string, error) {
	p := f.locate(name)
	if err := p.tree.refresh(); err != nil {
		return "", err
	}
	p.tree.mu.Lock()
	defer p.tree.mu.Unlock()
	n, err := p.tree.find(p.name)
	if err != nil || n.mode&fs.ModeSymlink == 0 {
		return "", nil //nolint:nilerr // what is missing is no link; the caller's own look finds out
	}
	return n.target, nil
}

// with calls do with the tree of a path locked.
func (f *FS) with(op, name string, follow bool, do func(p place) error) error {
	p, err := f.resolve(name, follow)
	if err == nil {
		err = p.tree.refresh()
	}
	if err == nil {
		p.tree.mu.Lock()
		defer p.tree.mu.Unlock()
		err = do(p)
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// change is with for writes.
func (f *FS) change(op, name string, follow bool, do func(p place) error) error {
	return f.with(op, name, follow, func(p place) error {
		if p.readOnly {
			return ErrReadOnly
		}
		return do(p)
	})
}

// Stat describes what a path leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.stat(name, true) }

// Lstat describes a path; a link is described itself.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.stat(name, false) }

func (f *FS) stat(name string, follow bool) (out fs.FileInfo, err error) {
	err = f.with("stat", name, follow, func(p place) error {
		n, err := p.tree.find(p.name)
		if err != nil {
			if f.isMountParent(p.path) {
				out = info{name: path.Base(p.path), mode: fs.ModeDir | 0o755, modified: p.tree.now()}
				return nil
			}
			return err
		}
		out = infoOf(path.Base(name), n)
		return nil
	})
	return out, err
}

// isMountParent is true for a directory that is there only to mount below it.
func (f *FS) isMountParent(name string) bool {
	return slices.ContainsFunc(f.mounts, func(m mount) bool { return strings.HasPrefix(m.path, strings.TrimSuffix(name, "/")+"/") })
}

// ReadDir lists a directory by name, mount points included.
func (f *FS) ReadDir(name string) (out []fs.DirEntry, err error) {
	seen := map[string]fs.FileInfo{}
	at := ""
	err = f.with("open", name, true, func(p place) error {
		at = p.path
		n, err := p.tree.find(p.name)
		if err != nil {
			if f.isMountParent(p.path) {
				return nil
			}
			return err
		}
		if !n.mode.IsDir() {
			return ErrNotDir
		}
		for _, child := range sortedNames(n) {
			seen[child] = infoOf(child, n.children[child])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(at, "/") + "/"
	for _, m := range f.mounts {
		if below, ok := strings.CutPrefix(m.path, prefix); ok && below != "" {
			child, _, _ := strings.Cut(below, "/")
			if mounted, err := f.Stat(prefix + child); err == nil {
				seen[child] = renamed{mounted, child}
			}
		}
	}
	for _, i := range seen {
		out = append(out, fs.FileInfoToDirEntry(i))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return out, nil
}

type renamed struct {
	fs.FileInfo
	name string
}

// Name implements fs.FileInfo.
func (r renamed) Name() string { return r.name }

// Readlink is the target of a symbolic link.
func (f *FS) Readlink(name string) (target string, err error) {
	err = f.with("readlink", name, false, func(p place) error {
		n, err := p.tree.find(p.name)
		if err != nil {
			return err
		}
		if n.mode&fs.ModeSymlink == 0 {
			return ErrInvalid
		}
		target = n.target
		return nil
	})
	return target, err
}

// Real is the path with all links followed.
func (f *FS) Real(name string) (string, error) {
	p, err := f.resolve(name, true)
	if err != nil {
		return "", err
	}
	if _, err := f.Stat(p.path); err != nil {
		return "", err
	}
	return p.path, nil
}

// Mkdir makes a directory.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.change("mkdir", name, true, func(p place) error {
		return p.tree.add(p.name, &node{mode: fs.ModeDir | perm.Perm(), children: map[string]*node{}})
	})
}

// MkdirAll makes a directory and all above it.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if i, err := f.Stat(name); err == nil {
		if !i.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: name, Err: ErrNotDir}
		}
		return nil
	}
	if dir := path.Dir(path.Clean("/" + name)); dir != "/" {
		if err := f.MkdirAll(dir, perm); err != nil {
			return err
		}
	}
	return f.Mkdir(name, perm)
}

// Symlink makes a symbolic link.
func (f *FS) Symlink(target, name string) error {
	return f.change("symlink", name, false, func(p place) error {
		return p.tree.add(p.name, &node{mode: fs.ModeSymlink | 0o777, target: target})
	})
}

// Remove takes away a file or an empty directory, or with all a whole hierarchy.
func (f *FS) Remove(name string, all bool) error {
	return f.change("remove", name, false, func(p place) error {
		if slices.ContainsFunc(f.mounts, func(m mount) bool { return m.path == p.path && m.path != "/" }) {
			return ErrBusy
		}
		return p.tree.remove(p.name, all)
	})
}

// Chmod sets the permissions, Touch the time of the last change.
func (f *FS) Chmod(name string, perm fs.FileMode) error {
	return f.change("chmod", name, true, func(p place) error {
		n, err := p.tree.own(p.name)
		if err == nil {
			n.mode = n.mode.Type() | perm.Perm()
		}
		return err
	})
}

// Touch sets the time of the last change.
func (f *FS) Touch(name string, at time.Time) error {
	return f.change("touch", name, true, func(p place) error {
		n, err := p.tree.own(p.name)
		if err == nil {
			n.modified = at
		}
		return err
	})
}

// info implements fs.FileInfo.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func infoOf(name string, n *node) fs.FileInfo {
	size := int64(len(n.data))
	if n.mode&fs.ModeSymlink != 0 {
		size = int64(len(n.target))
	}
	return info{name: name, size: size, mode: n.mode, modified: n.modified}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
