package fakelet

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var (
	exitCall  = regexp.MustCompile(`(?:^|[;&\s])exit\s+(\d+)\s*$`)
	sleepCall = regexp.MustCompile(`(?:^|[;&\s])sleep\s+(\d+)`)
	endless   = regexp.MustCompile(`while\s+(?:true|:)|tail\s+-f|sleep\s+inf|\bwait\b`)
)

// exitOf guesses whether a container's command ends by itself, after which time
// and with which code. It knows shells with a script, and tools that do one thing.
func exitOf(c corev1.Container) (code int32, after time.Duration, exits bool) {
	words := append(append([]string(nil), c.Command...), c.Args...)
	if len(words) == 0 {
		return 0, 0, false
	}
	switch tool := path.Base(words[0]); tool {
	case "true", "echo", "date", "env", "printenv", "ls", "cat", "hostname", "perl", "expr", "printf", "bc":
		return 0, 0, true
	case "false":
		return 1, 0, true
	case "sleep":
		return 0, seconds(words[1:]), len(words) > 1 && seconds(words[1:]) > 0
	case "sh", "bash", "ash", "dash":
		return scriptExit(words[1:])
	}
	return 0, 0, false
}

// scriptExit reads the script behind sh -c.
func scriptExit(args []string) (int32, time.Duration, bool) {
	if len(args) < 2 || !strings.HasPrefix(args[0], "-") || !strings.HasSuffix(args[0], "c") {
		return 0, 0, false
	}
	script := strings.TrimSpace(args[1])
	if endless.MatchString(script) {
		return 0, 0, false
	}
	var takes time.Duration
	for _, m := range sleepCall.FindAllStringSubmatch(script, -1) {
		takes += seconds(m[1:])
	}
	if m := exitCall.FindStringSubmatch(script); m != nil {
		n, err := strconv.ParseUint(m[1], 10, 8)
		return int32(n), takes, err == nil
	}
	if script == "false" {
		return 1, takes, true
	}
	return 0, takes, true
}

func seconds(words []string) time.Duration {
	if len(words) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(words[0], "s"), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
