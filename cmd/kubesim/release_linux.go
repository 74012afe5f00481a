package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// releaseMemory gives back what only the start has needed: free pages of the
// heap, and pages of files that are mapped but not written to. The functions
// init of all that is linked, kubectl among it, run through most of the
// program's own file, and the kernel maps what lies around as well, 80 MB in
// all. What is used again comes back from the page cache in microseconds.
func releaseMemory() {
	debug.FreeOSMemory()
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer smaps.Close()
	for _, m := range cleanMappings(smaps) {
		// In vain at worst: then the pages stay.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
	}
}

// mapping is a range of addresses that shows a file.
type mapping struct{ start, end uintptr }

// cleanMappings reads /proc/PID/smaps for the mappings that are as their files
// are: not writable, and without pages of their own, as a debugger makes them
// with its breakpoints.
func cleanMappings(smaps io.Reader) []mapping {
	var clean []mapping
	var m mapping
	isFile := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case !strings.HasSuffix(fields[0], ":"): // as in 00400000-02d06000 r-xp 00000000 fe:00 10256458 /bin/kubesim
			_, err := fmt.Sscanf(fields[0], "%x-%x", &m.start, &m.end)
			isFile = err == nil && len(fields) > 5 && strings.HasPrefix(fields[5], "/") && fields[1][1] != 'w'
		case fields[0] == "Anonymous:" && isFile && fields[1] == "0":
			clean = append(clean, m)
		}
	}
	return clean
}
