package fakelet

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var (
	exitCall  = regexp.MustCompile(`(?:^|[;&|\s])exit\s+(\d+)\s*;?$`)
	sleepCall = regexp.MustCompile(`(?:^|[;&|\s])sleep\s+(\d+[smhd]?)(?:$|[;&|\s])`)
	endless   = regexp.MustCompile(`while\s+(?:true|:|\[)|tail\s+-[fF]|sleep\s+inf|\bwait\b`)
	falseLast = regexp.MustCompile(`(?:^|[;&|\s])false\s*;?$`)
)

// brief are tools that do one thing and end.
var brief = []string{"true", "echo", "printf", "date", "env", "printenv", "ls", "cat", "hostname", "perl", "expr", "bc", "uname", "whoami", "id"}

// exitOf guesses from a container's command whether it ends by itself, with
// which code and after what time. A container without a command is a server.
//
// It stands in for the runtime that executes commands.
func exitOf(c *corev1.Container) (code int32, after time.Duration, exits bool) {
	words := slices.Concat(c.Command, c.Args)
	if len(words) == 0 {
		return 0, 0, false
	}
	switch tool := path.Base(words[0]); {
	case tool == "false":
		return 1, 0, true
	case tool == "sleep":
		return sleepExit(words[1:])
	case slices.Contains([]string{"sh", "bash", "ash", "dash"}, tool):
		return scriptExit(words[1:])
	case slices.Contains(brief, tool):
		return 0, 0, true
	}
	return 0, 0, false
}

func sleepExit(args []string) (code int32, after time.Duration, exits bool) {
	if len(args) == 0 {
		return 1, 0, true // sleep: missing operand
	}
	after, exits = duration(args[0])
	return 0, after, exits
}

// scriptExit reads the script of sh -c: the sum of its sleeps and its last exit.
func scriptExit(args []string) (code int32, after time.Duration, exits bool) {
	if len(args) < 2 || !strings.HasPrefix(args[0], "-") || !strings.HasSuffix(args[0], "c") {
		return 0, 0, false
	}
	script := strings.TrimSpace(args[1])
	if endless.MatchString(script) {
		return 0, 0, false
	}
	for _, call := range sleepCall.FindAllStringSubmatch(script, -1) {
		takes, _ := duration(call[1])
		after += takes
	}
	if call := exitCall.FindStringSubmatch(script); call != nil {
		n, err := strconv.ParseInt(call[1], 10, 64)
		return int32(n & 0xff), after, err == nil
	}
	if falseLast.MatchString(script) {
		return 1, after, true
	}
	return 0, after, true
}

// duration reads the operand of sleep: seconds, or a number with s, m, h or d.
func duration(operand string) (time.Duration, bool) {
	unit := time.Second
	switch {
	case strings.HasSuffix(operand, "m"):
		unit = time.Minute
	case strings.HasSuffix(operand, "h"):
		unit = time.Hour
	case strings.HasSuffix(operand, "d"):
		unit = 24 * time.Hour
	}
	n, err := strconv.ParseFloat(strings.TrimRight(operand, "smhd"), 64)
	if err != nil || n < 0 || n > 1e6 {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
