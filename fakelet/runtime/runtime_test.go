package runtime_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// nowhere is a network without anybody.
type nowhere struct{}

func (nowhere) LookupHost(_ context.Context, host string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (nowhere) Dial(context.Context, string, int) (net.Conn, error) { return nil, runtime.ErrRefused }
func (nowhere) Listen(int) (net.Listener, error)                    { return nil, runtime.ErrRefused }
func (nowhere) Addresses() []string                                 { return []string{"10.244.0.5"} }

// patience is how long a script may take: long for the clock of the test, short
// enough for one that never rests.
const patience = 4 * time.Second

// script runs a shell script as a container, and returns what it wrote and how it ended.
func script(t *testing.T, text string, edit func(*runtime.Spec)) (string, *runtime.Result, *runtime.Container) {
	t.Helper()
	return scriptFor(t, time.Hour, text, edit)
}

func scriptFor(t *testing.T, limit time.Duration, text string, edit func(*runtime.Spec)) (string, *runtime.Result, *runtime.Container) {
	t.Helper()
	r := runtime.New(clock.RealClock{})
	plan := runtime.PlanOf(runtime.Request{Image: "docker.io/library/busybox:1.37", Command: []string{"sh", "-c", text}})
	plan.Kind = runtime.Script
	spec := runtime.Spec{
		Plan: plan, Image: "busybox", Hostname: "p", Dir: "/", Network: nowhere{}, Message: "/dev/termination-log",
		Env: map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "GREETING": "hello"}, Started: time.Now(),
	}
	if edit != nil {
		edit(&spec)
	}
	ended := make(chan struct{})
	c := r.Container(spec, func() { close(ended) })
	select {
	case <-ended:
	case <-time.After(limit):
		c.Close(runtime.Result{Code: 137})
	}
	return c.Log().Tail(1000, 1<<20), c.Result(), c
}

func TestScripts(t *testing.T) {
	tests := []struct {
		name, script, want string
		code               int32
	}{
		{"words and variables", `x=1; y="a  b"; echo $GREETING $x $y "$y" ${z:-none} ${#y}`, "hello 1 a b a  b none 4\n", 0},
		{"exit code", `echo before; exit 3; echo after`, "before\n", 3},
		{"pipes", `printf 'b\na\nc\n' | sort | head -n 2 | tr a-z A-Z`, "A\nB\n", 0},
		{"loops", `for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done; i=0; while [ $i -lt 2 ]; do i=$((i+1)); done; echo $i`, "1\n3\n2\n", 0},
		{"case and functions", `f() { local v=$1; case $v in a*) echo A;; *) echo other; return 4;; esac; }; f apple; f pear; echo $?`, "A\nother\n4\n", 0},
		{"files", `mkdir -p /data/x && echo one > /data/x/f && echo two >> /data/x/f && cat /data/x/f && ls /data && wc -l < /data/x/f && rm -r /data/x && ls /data/x`, "one\ntwo\nx\n2\nls: /data/x: No such file or directory\n", 1},
		{"substitution", "echo $(echo a; echo b) `echo c`; echo \"$(seq 1 3)\"", "a b c\n1\n2\n3\n", 0},
		{"here-documents", "cat <<EOF\nhi $GREETING\nEOF\ncat <<'EOF'\nhi $GREETING\nEOF", "hi hello\nhi $GREETING\n", 0},
		{"set -e", `set -e; false || echo kept; if false; then :; fi; false; echo never`, "kept\n", 1},
		{"pipefail", `set -o pipefail; false | true; echo $?`, "1\n", 0},
		{"not found", `nosuch; echo $?`, "sh: nosuch: not found\n127\n", 0},
		{"read", `printf 'a b c\nd\n' | while read x y; do echo "$x-$y"; done`, "a-b c\nd-\n", 0},
		{"sed and grep", `printf 'port=80\nhost=x\n' | sed -e 's/=\(.*\)/: "\1"/' | grep -v host; echo abc | grep -q b && echo yes`, "port: \"80\"\nyes\n", 0},
		{"arrays and tests of bash", `a=(x y z); a+=(w); echo ${#a[@]} ${a[1]}; [[ abc == a* && abc =~ ^(a)b ]] && echo ${BASH_REMATCH[1]}; ((2 > 1)) && echo yes`, "4 y\na\nyes\n", 0},
		{"jobs", `sleep 5 & p=$!; wait $p; echo $?; (exit 7) & wait $!; echo $?`, "0\n7\n", 0},
		{"trap on exit", `trap 'echo bye' EXIT; echo hi; exit 2`, "hi\nbye\n", 2},
		{"kill", `sleep 100 & kill $!; wait $!; echo $?`, "143\n", 0},
		{"date and sleep", `a=$(date +%s); sleep 90; b=$(date +%s); echo $((b-a))`, "90\n", 0},
		{"getopts", `set -- -a -b val rest; while getopts ab: o; do echo $o $OPTARG; done; shift $((OPTIND-1)); echo $1`, "a\nb val\nrest\n", 0},
		{"cut, tr, uniq, xargs", `echo a:b:c | cut -d: -f2,3; printf 'a\na\nb\n' | uniq -c | tr -s ' '; echo 1 2 3 | xargs -n 1 echo n`, "b:c\n 2 a\n 1 b\nn 1\nn 2\nn 3\n", 0},
		{"redirected errors", `ls /none 2>/dev/null || echo quiet; ls /none 2>&1 | wc -l; { echo a; echo b >&2; } 2>/tmp/e; cat /tmp/e`, "quiet\n1\na\nb\n", 0},
		{"globs", `cd /tmp; touch a.txt b.txt c.md; echo *.txt; echo *.none`, "a.txt b.txt\n*.none\n", 0},
		{"timeout", `timeout 3 sleep 100; echo $?`, "124\n", 0},
		{"a syntax error", "echo one\nif", "one\nsh: syntax error: line 2: `if` must be followed by a statement list\n", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, result, _ := script(t, tt.script, nil)
				if out != tt.want || result.Code != tt.code {
					t.Errorf("wrote %q and ended with %d (%s); want %q and %d", out, result.Code, result.Reason, tt.want, tt.code)
				}
			})
		})
	}
}

// Nothing that a pod tries gets it to the machine that kubesim runs on, or takes
// more of that than its share.
func TestContainment(t *testing.T) {
	t.Setenv("KUBESIM_TEST_SECRET", "of the host")
	tests := []struct{ name, script string }{
		{"paths", `cat /etc/shadow /root/.ssh/id_rsa /work /proc/1/root/etc/passwd /proc/self/root/etc/hostname /../../../etc/fstab ../../../../etc/fstab 2>&1; ls /home /root /sys 2>&1; cd /proc/self/cwd 2>&1`},
		{"links", `ln -s /../../../../etc /tmp/out; cat /tmp/out/fstab 2>&1; ln -s loop /tmp/loop; cat /tmp/loop 2>&1; cat ~nobody/x ~root/x 2>&1`},
		{"variables", `env; set; echo "$KUBESIM_TEST_SECRET"; cat /proc/1/environ /proc/self/environ 2>&1`},
		{"processes", `ps; kill -9 1; ls /proc; cat /proc/*/cmdline`},
		{"network", `for h in localhost 127.0.0.1 169.254.169.254 10.0.0.1 example.com host.docker.internal; do curl -sS -m 1 http://$h:22/ 2>&1; nc -z -w 1 $h 80; done; nslookup example.com`},
		{"a bomb of forks", `f() { f | f & }; f; bomb() { bomb & bomb & }; bomb; sleep 2`},
		{"a bomb without end", `f() { f | f; }; f`},
		{"recursion", `f() { f; }; f; eval 'g() { eval g; }; g'; x='$(eval "$x")'; eval "$x"`},
		{"an endless loop", `while :; do :; done`},
		{"an endless loop without commands", `while ((1)); do ((i++)); done`},
		{"an endless for", `for ((;;)); do x=1; done`},
		{"a flood", `yes`},
		{"a flood in a pipe", `yes | cat | cat`},
		{"a flood into a file", `yes > /tmp/f; cat /dev/zero > /tmp/g; dd if=/dev/zero of=/tmp/h bs=1M`},
		{"a flood into a variable", `x=$(yes); y=$(cat /dev/zero); echo ${#x}`},
		{"a variable that doubles", `x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`},
		{"many variables", `x=$(seq 1 20000); i=0; while :; do i=$((i+1)); eval "v$i=\$x"; done`},
		{"an array that grows", `while :; do a+=(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa); done`},
		{"a sparse array", `a[999999999999]=x; a[99999999]=y; echo ${#a[@]}`},
		{"a replacement that explodes", `x=$(seq 1 20000); y=${x//1/$x}; z=${y//1/$y}; echo ${#z}`},
		{"braces", `echo {1..1000000000} | wc -c; echo {a,b}{1..100000}{1..100000} | wc -c; eval 'echo {1..999999999}'`},
		{"a wide field", `printf '%999999999d' 1; printf '%*d' 999999999 1; printf "%0999999999s" x`},
		{"a long line", `tail /dev/zero; sort /dev/zero`},
		{"counting", `seq 1 1000000000000`},
		{"deep syntax", `x=$(printf '(%.0s' $(seq 1 20000)); eval "$x"; y=$(printf '$((%.0s' $(seq 1 20000)); eval "echo $y"`},
		{"deep directories", `while mkdir d && cd d; do :; done`},
		{"many files", `i=0; while :; do i=$((i+1)); : > /tmp/$i; done`},
		{"a file that includes itself", `echo '. /tmp/me' > /tmp/me; . /tmp/me`},
		{"arithmetic", `echo $((9223372036854775807*99)); echo $((1<<9999)); a=b; b=a; echo $((a)); echo $((2**99999999))`},
		{"patterns", `[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa =~ (a+)+$b ]]; echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E '(a*)*b'`},
		{"a huge sleep", `sleep 99999999999999999999; sleep -1; sleep nan`},
		{"process substitution", `cat <(cat /etc/fstab) 2>&1; cat < <(echo fine); echo x > >(cat)`},
		{"the interpreter's own", `exec 9<>/dev/tcp/127.0.0.1/22; ulimit -u unlimited; umask 0; trap 'f() { f; }; f' EXIT`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, _, c := scriptFor(t, patience, tt.script, func(s *runtime.Spec) { s.Memory = 64 << 20 })
				for _, leak := range []string{"of the host", "ssh-", "tmpfs /tmp", "UUID="} {
					if strings.Contains(out, leak) {
						t.Errorf("it saw %q: %s", leak, out)
					}
				}
				if cpu, _ := c.Usage(); cpu > 1.5*patience.Seconds() {
					t.Errorf("it took %.1f s of CPU in %s", cpu, patience)
				}
			})
		})
	}
}

func TestOutOfMemory(t *testing.T) {
	for _, text := range []string{`stress --vm 1 --vm-bytes 150M --vm-hang 1`, `tail /dev/zero`, `dd if=/dev/zero of=/dev/null bs=200M count=1`} {
		synctest.Test(t, func(t *testing.T) {
			_, result, _ := script(t, text, func(s *runtime.Spec) { s.Memory = 100 << 20 })
			if result.Code != 137 || result.Reason != "OOMKilled" {
				t.Errorf("%s: %+v", text, result)
			}
		})
	}
}

func TestTerminationMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, result, _ := script(t, `echo done > /dev/termination-log; exit 1`, nil); result.Message != "done\n" {
			t.Errorf("message %q", result.Message)
		}
		_, result, _ := script(t, `echo why; exit 1`, func(s *runtime.Spec) { s.FromLog = true })
		if result.Message != "why\n" {
			t.Errorf("message from the log %q", result.Message)
		}
	})
}

func TestVolumesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := vfs.NewTree(1<<20, time.Now)
		mount := func(s *runtime.Spec) { s.Mounts = []runtime.Mount{{Path: "/data", Tree: shared}} }
		script(t, `echo hi > /data/f`, mount)
		if out, _, _ := script(t, `cat /data/f; ls /`, mount); !strings.HasPrefix(out, "hi\n") || !strings.Contains(out, "data\n") {
			t.Errorf("the other container sees %q", out)
		}
		out, result, _ := script(t, `echo x > /data/g`, func(s *runtime.Spec) { mount(s); s.Mounts[0].ReadOnly = true })
		if result.Code == 0 || !strings.Contains(out, "read-only file system") {
			t.Errorf("a read-only mount: %q, %+v", out, result)
		}
	})
}

func TestExec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runtime.New(clock.RealClock{})
		plan := runtime.PlanOf(runtime.Request{Image: "docker.io/library/nginx:1.27"})
		var ended atomic.Bool
		c := r.Container(runtime.Spec{Plan: plan, Hostname: "web", Dir: "/", Network: nowhere{}, Started: time.Now()}, func() { ended.Store(true) })
		var out bytes.Buffer
		code, err := c.Exec(t.Context(), runtime.Command{Args: []string{"sh", "-c", "hostname; head -n 1 /usr/share/nginx/html/index.html; exit 5"}, Stdout: &out})
		if err != nil || code != 5 || out.String() != "web\n<!DOCTYPE html>\n" {
			t.Errorf("code %d, error %v, output %q", code, err, out.String())
		}
		if _, err := c.Exec(t.Context(), runtime.Command{Args: []string{"nosuch"}}); err == nil || !strings.Contains(err.Error(), `exec: "nosuch": executable file not found in $PATH`) {
			t.Errorf("a program that is not there: %v", err)
		}
		_, err = c.Exec(t.Context(), runtime.Command{Args: []string{"kill", "1"}})
		synctest.Wait()
		if err != nil || !ended.Load() || c.Result().Code != 0 {
			t.Errorf("kill 1: %v, %+v", err, c.Result())
		}
	})
}

func TestPlans(t *testing.T) {
	tests := []struct {
		image string
		argv  []string
		job   bool
		kind  runtime.Kind
		after time.Duration
		code  int32
	}{
		{image: "nginx:1.27", kind: runtime.Server},
		{image: "example.com/app:1", kind: runtime.Server},
		{image: "example.com/app:1", argv: []string{"/manager", "--leader-elect"}, kind: runtime.Server},
		{image: "example.com/migrate:1", job: true, kind: runtime.Timed},
		{image: "busybox", kind: runtime.Timed},
		{image: "busybox", argv: []string{"sleep", "3600"}, kind: runtime.Timed, after: time.Hour},
		{image: "busybox", argv: []string{"sh", "-c", "exit 3"}, kind: runtime.Timed, code: 3},
		{image: "busybox", argv: []string{"sh", "-c", "sleep 1; sleep 2 ; false"}, kind: runtime.Timed, after: 3 * time.Second, code: 1},
		{image: "busybox", argv: []string{"sh", "-c", "while true; do sleep 5; done"}, kind: runtime.Timed, after: runtime.Forever},
		{image: "busybox", argv: []string{"tail", "-f", "/dev/null"}, kind: runtime.Timed, after: runtime.Forever},
		{image: "busybox", argv: []string{"sh", "-c", "echo hi"}, kind: runtime.Script},
		{image: "busybox", argv: []string{"nosuch"}, kind: runtime.Broken},
		{image: "nginx", argv: []string{"sh", "-c", "echo hi; nginx"}, kind: runtime.Script},
		{image: "postgres:17", kind: runtime.Script}, // no password is set: it complains and ends
	}
	for _, tt := range tests {
		p := runtime.PlanOf(runtime.Request{Image: tt.image, Command: tt.argv, Job: tt.job, Env: func(string) string { return "" }})
		if p.Kind != tt.kind || p.After != tt.after || p.Code != tt.code {
			t.Errorf("%s %q: kind %d after %s code %d", tt.image, tt.argv, p.Kind, p.After, p.Code)
		}
	}
}
