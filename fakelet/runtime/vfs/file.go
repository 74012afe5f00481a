package vfs

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
)

// Flags of Open, which may be combined.
const (
	Write    = 1 << iota // open for writing, not only for reading
	Create               // make the file if there is none
	Truncate             // begin empty
	Append               // write at the end
	Exclude              // with Create: fail if there is one
)

// File is an open file. It is used by one goroutine at a time.
type File struct {
	tree   *Tree
	node   *node
	name   string // in the tree
	path   string
	offset int64
	flags  int
}

// Open opens a file; by flag it is made, emptied or written at its end.
func (f *FS) Open(name string, flags int) (file *File, err error) {
	err = f.with("open", name, true, func(p place) error {
		n, err := p.tree.find(p.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && flags&Create != 0:
			if p.readOnly {
				return ErrReadOnly
			}
			n = &node{mode: 0o644}
			if err := p.tree.add(p.name, n); err != nil {
				return err
			}
		case err != nil:
			return err
		case flags&Exclude != 0:
			return fs.ErrExist
		case n.mode.IsDir() && flags&Write != 0:
			return ErrIsDir
		case flags&Write != 0 && n.device == "":
			if p.readOnly {
				return ErrReadOnly
			}
			if n, err = p.tree.own(p.name); err != nil {
				return err
			}
		}
		if flags&Truncate != 0 && n.device == "" {
			if err := p.tree.grow(-int64(len(n.data))); err != nil {
				return err
			}
			n.data, n.modified = nil, p.tree.now()
		}
		file = &File{tree: p.tree, node: n, name: p.name, path: name, flags: flags}
		return nil
	})
	return file, err
}

// Name is the path that the file was opened by.
func (f *File) Name() string { return f.path }

// Size is the length of the file now.
func (f *File) Size() int64 {
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	return int64(len(f.node.data))
}

// Device is what stands behind a device file, "" for others.
func (f *File) Device() Device { return f.node.device }

// Read implements io.Reader.
func (f *File) Read(b []byte) (int, error) {
	switch f.node.device {
	case Null:
		return 0, io.EOF
	case Zero, Full:
		clear(b)
		return len(b), nil
	case Random:
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		return len(b), nil
	}
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	if f.node.mode.IsDir() {
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: ErrIsDir}
	}
	if f.offset >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[f.offset:])
	f.offset += int64(n)
	return n, nil
}

// Write implements io.Writer. What was read before is never changed in place.
func (f *File) Write(b []byte) (int, error) {
	switch {
	case f.flags&Write == 0:
		return 0, &fs.PathError{Op: "write", Path: f.path, Err: errors.New("Bad file descriptor")}
	case f.node.device == Full:
		return 0, &fs.PathError{Op: "write", Path: f.path, Err: ErrNoSpace}
	case f.node.device != "":
		return len(b), nil
	}
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	if f.flags&Append != 0 {
		f.offset = int64(len(f.node.data))
	}
	end := f.offset + int64(len(b))
	if more := end - int64(len(f.node.data)); more > 0 {
		if err := f.tree.grow(more); err != nil {
			return 0, &fs.PathError{Op: "write", Path: f.path, Err: err}
		}
	}
	data := f.node.data
	if f.offset < int64(len(data)) || int64(cap(data)) < end {
		grown := make([]byte, max(int64(len(data)), end), max(int64(len(data))*3/2, end))
		copy(grown, data)
		data = grown
	}
	if int64(len(data)) < end {
		data = data[:end]
	}
	copy(data[f.offset:], b)
	f.node.data, f.node.modified, f.offset = data, f.tree.now(), end
	return len(b), nil
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.Size()
	}
	if offset < 0 {
		return 0, &fs.PathError{Op: "seek", Path: f.path, Err: ErrInvalid}
	}
	f.offset = offset
	return offset, nil
}

// Close implements io.Closer.
func (f *File) Close() error { return nil }

// ReadFile returns the content of a file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name, 0)
	if err != nil {
		return nil, err
	}
	if file.node.device != "" {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrInvalid}
	}
	return io.ReadAll(file)
}

// WriteFile sets the content of a file.
func (f *FS) WriteFile(name string, data []byte) error {
	file, err := f.Open(name, Write|Create|Truncate)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return err
}

// Rename moves a file or a directory.
func (f *FS) Rename(from, to string) error {
	source, err := f.resolve(from, false)
	if err != nil {
		return &fs.PathError{Op: "rename", Path: from, Err: err}
	}
	target, err := f.resolve(to, false)
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	switch {
	case source.tree != target.tree:
		return &fs.PathError{Op: "rename", Path: from, Err: errors.New("Invalid cross-device link")}
	case source.readOnly || target.readOnly:
		return &fs.PathError{Op: "rename", Path: from, Err: ErrReadOnly}
	case len(split(source.name)) == 0 || hasPrefix(target.name, source.name):
		return &fs.PathError{Op: "rename", Path: from, Err: ErrInvalid}
	}
	t := source.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.rename(source.name, target.name); err != nil {
		return &fs.PathError{Op: "rename", Path: from, Err: err}
	}
	return nil
}

func hasPrefix(name, dir string) bool {
	parts, above := split(name), split(dir)
	if len(parts) <= len(above) {
		return false
	}
	for i := range above {
		if parts[i] != above[i] {
			return false
		}
	}
	return true
}

func (t *Tree) rename(from, to string) error {
	n, err := t.own(from)
	if err != nil || from == to {
		return err
	}
	if old, err := t.find(to); err == nil {
		if old.mode.IsDir() {
			return ErrIsDir
		}
		if err := t.remove(to, false); err != nil {
			return err
		}
	}
	modified := n.modified
	if err := t.add(to, n); err != nil {
		return err
	}
	n.modified = modified
	if err := t.grow(-overhead - int64(len(n.data))); err != nil {
		return err
	}
	dir, err := t.own(path.Dir(from))
	if err != nil {
		return err
	}
	delete(dir.children, path.Base(from))
	return nil
}
