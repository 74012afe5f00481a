package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// What is released is what the file can give again: nothing written is lost.
func TestReleaseMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := bytes.Repeat([]byte("kubesim."), 8192)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	open := func(protection, flags int) []byte {
		b, err := syscall.Mmap(int(file.Fd()), 0, len(content), protection, flags)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Munmap(b) })
		if !bytes.Equal(b, content) {
			t.Fatal("the file is not mapped as it is")
		}
		return b
	}
	clean := open(syscall.PROT_READ, syscall.MAP_PRIVATE)
	written := open(syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	patched := open(syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	written[0], patched[0] = 'K', 'K'
	if err := syscall.Mprotect(patched, syscall.PROT_READ); err != nil {
		t.Fatal(err)
	}

	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	released := func(b []byte) bool {
		start := uintptr(unsafe.Pointer(&b[0]))
		return slices.ContainsFunc(cleanMappings(bytes.NewReader(smaps)), func(m mapping) bool { return m.start <= start && start < m.end })
	}
	if !released(clean) || released(written) || released(patched) {
		t.Errorf("released: clean %t, written %t, patched %t", released(clean), released(written), released(patched))
	}
	releaseMemory()
	if !bytes.Equal(clean, content) {
		t.Error("a clean mapping is not as its file is")
	}
	for _, b := range [][]byte{written, patched} {
		if b[0] != 'K' || !strings.HasPrefix(string(b[1:]), "ubesim.") {
			t.Errorf("what was written is lost: %q", b[:8])
		}
	}
}
