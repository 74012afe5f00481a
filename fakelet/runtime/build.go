package runtime

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/tools"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// base is the tree that all images have in common. Its tools have no content,
// since package tools stands for them.
var base = sync.OnceValue(func() *vfs.Image {
	t := vfs.NewTree(16<<20, func() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) })
	put := func(name, content string) { _ = t.Put(name, []byte(content), 0o644) }
	for name := range tools.All() {
		_ = t.Put("/bin/"+name, nil, 0o755)
	}
	for _, link := range []string{"/usr/bin", "/usr/sbin", "/sbin", "/usr/local/bin"} {
		if link == "/sbin" {
			_ = t.PutLink(link, "/bin")
			continue
		}
		_ = t.PutDir(link)
	}
	for _, name := range []string{"env", "bash", "sh", "curl", "wget", "test", "perl", "tini", "dumb-init", "id", "which", "sleep", "tail", "printf"} {
		_ = t.PutLink("/usr/bin/"+name, "/bin/"+name)
	}
	for _, dir := range []string{"/tmp", "/var/log", "/var/run", "/run", "/home", "/root", "/opt", "/mnt", "/srv", "/usr/share", "/var/tmp"} {
		_ = t.PutDir(dir)
	}
	put("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n")
	put("/etc/group", "root:x:0:\nnogroup:x:65534:\n")
	put("/etc/os-release", "NAME=\"kubesim\"\nID=kubesim\nPRETTY_NAME=\"kubesim simulated image\"\n")
	for name, device := range map[string]vfs.Device{"null": vfs.Null, "zero": vfs.Zero, "random": vfs.Random, "urandom": vfs.Random, "full": vfs.Full} {
		_ = t.PutDevice("/dev/"+name, device)
	}
	put("/dev/termination-log", "")
	_ = t.PutDir("/dev/shm")
	return t.Share()
})

// build makes the container's view of files.
func (c *Container) build() *vfs.FS {
	now := c.runtime.clock.Now
	root := base().Tree(maxDisk, now)
	for name, content := range c.spec.image.files {
		_ = root.Put(name, []byte(content), 0o644)
	}
	for _, server := range c.spec.image.servers {
		_ = root.Put(path.Join("/usr/local/bin", server), nil, 0o755)
	}
	for name := range c.spec.Programs {
		_ = root.Put(path.Join("/usr/local/bin", name), nil, 0o755)
	}
	if strings.HasPrefix(c.spec.Argv[0], "/") && c.spec.Kind == Server {
		_ = root.Put(c.spec.Argv[0], nil, 0o755)
	}
	for _, name := range c.spec.programs {
		if !strings.Contains(name, "/") {
			name = path.Join("/usr/local/bin", name)
		}
		_ = root.Put(path.Clean("/"+name), nil, 0o755)
	}
	_ = root.Put("/etc/hostname", []byte(c.spec.Hostname+"\n"), 0o644)
	_ = root.Put("/etc/resolv.conf", []byte(resolvConf(c.spec.Network)), 0o644)
	if c.spec.Dir != "" && c.spec.Dir != "/" {
		_ = root.PutDir(c.spec.Dir)
	}
	view := vfs.New(root)
	proc := vfs.NewTree(1<<20, now)
	proc.Generated(c.proc)
	view.Mount("/proc", proc, "/", true)
	if c.spec.Message != "" {
		// A file of its own, as the kubelet mounts it: it stays writable.
		_ = root.Put(c.spec.Message, nil, 0o666)
	}
	if c.spec.ReadOnly {
		view.ReadOnlyRoot()
		message := vfs.NewTree(64<<10, now)
		if c.spec.Message != "" {
			_ = message.Put("/log", nil, 0o666)
			view.Mount(c.spec.Message, message, "/log", false)
		}
	}
	for _, m := range c.spec.Mounts {
		view.Mount(m.Path, m.Tree, m.Sub, m.ReadOnly)
	}
	return view
}

func resolvConf(n process.Network) string {
	search := "svc.cluster.local cluster.local"
	if s, ok := n.(interface{ Search() string }); ok {
		search = s.Search()
	}
	return "search " + search + "\nnameserver 10.96.0.10\noptions ndots:5\n"
}

// proc fills /proc with what the machine of the simulation has.
func (c *Container) proc(t *vfs.Tree) error {
	t.Clear()
	put := func(name, format string, args ...any) { _ = t.Put(name, fmt.Appendf(nil, format, args...), 0o444) }
	up := c.runtime.clock.Since(c.spec.Started).Seconds()
	put("/uptime", "%.2f %.2f\n", up, up)
	put("/loadavg", "0.00 0.00 0.00 1/%d %d\n", len(c.Processes()), c.nextPID-1)
	put("/version", "Linux version 6.12.0-kubesim\n")
	put("/cpuinfo", "processor\t: 0\nmodel name\t: kubesim\n")
	put("/meminfo", "MemTotal:        8388608 kB\nMemFree:         7340032 kB\nMemAvailable:    7864320 kB\n")
	put("/mounts", "%s", c.mounts())
	put("/self/mounts", "%s", c.mounts())
	put("/self/cgroup", "0::/\n")
	put("/sys/kernel/hostname", "%s\n", c.spec.Hostname)
	for _, p := range c.Processes() {
		put(fmt.Sprintf("/%d/cmdline", p.PID), "%s\x00", strings.Join(p.Args, "\x00"))
		put(fmt.Sprintf("/%d/comm", p.PID), "%s\n", path.Base(p.Args[0]))
		put(fmt.Sprintf("/%d/status", p.PID), "Name:\t%s\nPid:\t%d\nPPid:\t%d\n", path.Base(p.Args[0]), p.PID, p.PPID)
		if p.PID == 1 {
			var env strings.Builder
			for name, value := range c.spec.Env {
				env.WriteString(name + "=" + value + "\x00")
			}
			put("/1/environ", "%s", env.String())
		}
	}
	return nil
}

func (c *Container) mounts() string {
	var b strings.Builder
	b.WriteString("overlay / overlay rw,relatime 0 0\nproc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n")
	for _, m := range c.spec.Mounts {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		fmt.Fprintf(&b, "kubesim %s tmpfs %s,relatime 0 0\n", m.Path, mode)
	}
	return b.String()
}

// program finds what a path of the container runs.
func (c *Container) program(file string) (process.Program, bool) {
	name := path.Base(file)
	if program, ok := c.spec.Programs[name]; ok {
		return program, true
	}
	switch {
	case slices.Contains(c.spec.image.servers, name), name == path.Base(c.spec.main) && c.spec.main != "":
		return c.serverProgram, true
	case slices.ContainsFunc(c.spec.programs, func(program string) bool { return path.Base(program) == name }):
		return func(context.Context, *process.Process) int { return 0 }, true
	case c.spec.image.lacks(name):
		return nil, false
	}
	info, err := c.FS().Stat(file)
	if err != nil || info.Size() > 0 {
		return nil, false // a file of its own, such as a script that was put there
	}
	program, ok := tools.All()[name]
	return program, ok
}

// serverProgram is the image's server when a script starts it: it lives until it
// is told to end, and answers meanwhile.
func (c *Container) serverProgram(ctx context.Context, p *process.Process) int {
	argv := p.Args
	if path.Base(argv[0]) == "docker-entrypoint.sh" && len(argv) > 1 && !slices.Contains(c.spec.image.servers, path.Base(argv[1])) {
		run := p.Like(argv[1:])
		file, err := run.Find(argv[1])
		if err != nil {
			p.Errorf("exec: %s: not found", argv[1])
			return 127
		}
		if program, ok := c.program(file); ok {
			return program(ctx, run)
		}
		return 0
	}
	c.mu.Lock()
	c.serving++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.serving--
		c.mu.Unlock()
	}()
	p.Handle(process.SIGTERM, true)
	p.Handle(process.SIGQUIT, true)
	select {
	case <-ctx.Done():
		return 137
	case <-p.Woken():
		if c.spec.image.graceful {
			return 0
		}
		return 143
	}
}
