package vfs

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Errors with the words of a Linux tool. They come wrapped in a *fs.PathError.
var (
	ErrNotDir   = errors.New("Not a directory")
	ErrIsDir    = errors.New("Is a directory")
	ErrNotEmpty = errors.New("Directory not empty")
	ErrReadOnly = errors.New("Read-only file system")
	ErrNoSpace  = errors.New("No space left on device")
	ErrLoop     = errors.New("Too many levels of symbolic links")
	ErrInvalid  = errors.New("Invalid argument")
	ErrBusy     = errors.New("Device or resource busy")
	ErrTooLong  = errors.New("File name too long")
)

// node is a file, a directory, a symbolic link or a device.
type node struct {
	mode     fs.FileMode
	modified time.Time
	data     []byte           // of a file
	target   string           // of a link
	device   Device           // of a device
	children map[string]*node // of a directory
	shared   bool             // part of an image: to be copied before a change
}

// Device is what stands behind a device file.
type Device string

// The devices of a container.
const (
	Null   Device = "null"
	Zero   Device = "zero"
	Random Device = "random"
	Full   Device = "full"
)

// Tree is a hierarchy of files. Its methods take clean absolute paths and follow
// no links; those are FS's business.
type Tree struct {
	mu    sync.Mutex
	root  *node
	limit int64
	size  int64
	now   func() time.Time
	fill  func(*Tree) error // brings generated content up to date, see Generated
	bytes func(int64) error // told of growth, see Account
}

// NewTree returns an empty tree for at most limit bytes.
func NewTree(limit int64, now func() time.Time) *Tree {
	return &Tree{root: &node{mode: fs.ModeDir | 0o755, modified: now(), children: map[string]*node{}}, limit: limit, now: now}
}

// Generated has fill called before the tree is looked at. It makes content that
// comes from elsewhere, such as ConfigMaps or the table of processes, by Put.
func (t *Tree) Generated(fill func(*Tree) error) { t.fill = fill }

// Account has grow called before the tree grows by some bytes; its error refuses.
func (t *Tree) Account(grow func(int64) error) { t.bytes = grow }

// Share freezes the tree and returns it as the start of new ones.
func (t *Tree) Share() *Image {
	freeze(t.root)
	return &Image{root: t.root}
}

func freeze(n *node) {
	n.shared = true
	for _, c := range n.children {
		freeze(c)
	}
}

// Image is a tree that never changes.
type Image struct{ root *node }

// Tree returns a tree that begins as the image.
func (i *Image) Tree(limit int64, now func() time.Time) *Tree {
	return &Tree{root: i.root, limit: limit, now: now}
}

// clone returns a node that may be changed.
func (n *node) clone() *node {
	c := *n
	c.shared = false
	c.children = maps.Clone(n.children)
	return &c
}

// refresh brings generated content up to date. It is called without the lock.
func (t *Tree) refresh() error {
	if t.fill == nil {
		return nil
	}
	return t.fill(t)
}

func split(name string) []string {
	name = strings.Trim(name, "/")
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// find returns the node of a path, as it is.
func (t *Tree) find(name string) (*node, error) {
	n := t.root
	for _, part := range split(name) {
		if !n.mode.IsDir() {
			return nil, ErrNotDir
		}
		next, ok := n.children[part]
		if !ok {
			return nil, fs.ErrNotExist
		}
		n = next
	}
	return n, nil
}

// own returns the node of a path, ready to be changed.
func (t *Tree) own(name string) (*node, error) {
	if _, err := t.find(name); err != nil {
		return nil, err
	}
	if t.root.shared {
		t.root = t.root.clone()
	}
	n := t.root
	for _, part := range split(name) {
		next := n.children[part]
		if next.shared {
			next = next.clone()
			n.children[part] = next
		}
		n = next
	}
	return n, nil
}

// grow accounts for n more bytes, fewer if n is negative.
func (t *Tree) grow(n int64) error {
	if n > 0 && t.size+n > t.limit {
		return ErrNoSpace
	}
	if t.bytes != nil {
		if err := t.bytes(n); err != nil {
			return err
		}
	}
	t.size += n
	return nil
}

// overhead is what a file takes beside its content.
const overhead = 256

// add puts a new node into its directory.
func (t *Tree) add(name string, n *node) error {
	dir, err := t.own(path.Dir(name))
	if err != nil {
		return err
	}
	if !dir.mode.IsDir() {
		return ErrNotDir
	}
	base := path.Base(name)
	if _, ok := dir.children[base]; ok {
		return fs.ErrExist
	}
	if len(base) > 255 {
		return ErrTooLong
	}
	if err := t.grow(overhead + int64(len(n.data))); err != nil {
		return err
	}
	n.modified = t.now()
	dir.children[base] = n
	dir.modified = n.modified
	return nil
}

// Put sets a file's content, with all directories above it.
func (t *Tree) Put(name string, data []byte, mode fs.FileMode) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.parents(name); err != nil {
		return err
	}
	if n, err := t.own(name); err == nil {
		if err := t.grow(int64(len(data) - len(n.data))); err != nil {
			return err
		}
		n.data, n.mode, n.modified = data, mode, t.now()
		return nil
	}
	return t.add(name, &node{mode: mode, data: data})
}

// PutLink sets a symbolic link, with all directories above it.
func (t *Tree) PutLink(name, target string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.parents(name); err != nil {
		return err
	}
	if n, err := t.own(name); err == nil {
		n.target = target
		return nil
	}
	return t.add(name, &node{mode: fs.ModeSymlink | 0o777, target: target})
}

// PutDevice sets a device file, with all directories above it.
func (t *Tree) PutDevice(name string, d Device) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.parents(name); err != nil {
		return err
	}
	return t.add(name, &node{mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, device: d})
}

// PutDir makes a directory and those above it.
func (t *Tree) PutDir(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.parents(path.Join(name, "x"))
}

func (t *Tree) parents(name string) error {
	parts := split(path.Dir(name))
	for i := range parts {
		dir := "/" + path.Join(parts[:i+1]...)
		if _, err := t.find(dir); err == nil {
			continue
		}
		if err := t.add(dir, &node{mode: fs.ModeDir | 0o755, children: map[string]*node{}}); err != nil {
			return err
		}
	}
	return nil
}

// Clear empties the tree.
func (t *Tree) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.grow(-t.size)
	t.root = &node{mode: t.root.mode, modified: t.now(), children: map[string]*node{}}
}

// Size is how many bytes the tree holds, its image left out.
func (t *Tree) Size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// remove takes a node out of its directory.
func (t *Tree) remove(name string, all bool) error {
	n, err := t.find(name)
	if err != nil {
		return err
	}
	if len(split(name)) == 0 {
		return ErrBusy
	}
	if n.mode.IsDir() && len(n.children) > 0 && !all {
		return ErrNotEmpty
	}
	dir, err := t.own(path.Dir(name))
	if err != nil {
		return err
	}
	delete(dir.children, path.Base(name))
	dir.modified = t.now()
	return t.grow(-sizeOf(n))
}

// sizeOf is what a node and all below it take of the limit; those of the image nothing.
func sizeOf(n *node) int64 {
	if n.shared {
		return 0
	}
	size := overhead + int64(len(n.data))
	for _, c := range n.children {
		size += sizeOf(c)
	}
	return size
}

func sortedNames(n *node) []string { return slices.Sorted(maps.Keys(n.children)) }
