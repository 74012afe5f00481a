package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/sandbox"
)

// TestKubectl runs the scripts in testdata/kubectl, each in a namespace of its
// own, all against one cluster. A line of a script is one of
//
//	# words           a comment
//	$ ARGUMENTS       runs kubectl, and it must succeed
//	! ARGUMENTS       runs kubectl, and it must fail
//	< FILE            gives the next command that file as standard input
//	> FILE            begins a file, of the lines up to an empty one
//	anything else     a regular expression that the output since the last command must match
//
// Each command's output must match all the expressions below it.
func TestKubectl(t *testing.T) {
	url := startCluster(t)
	exitByPanic(t)
	t.Setenv("HOME", t.TempDir()) // of kubectl's caches
	t.Setenv("EDITOR", "./editor")
	scripts, err := filepath.Glob("testdata/kubectl/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if raceDetector && name == "nodes" {
				t.Skip("kubectl drain has data races of its own")
			}
			s := &script{t: t, url: url, namespace: name}
			t.Chdir(t.TempDir())
			s.run("create namespace " + name)
			s.play(string(text))
		})
	}
}

// startCluster starts three nodes on a port of their own.
func startCluster(t *testing.T) (url string) {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Config{Nodes: 3, HTTP: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return s.URL()
}

// exited is what a kubectl that would end the process panics with.
type exited struct {
	message string
	code    int
}

func exitByPanic(t *testing.T) {
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(exited{message, code}) })
	t.Cleanup(cmdutil.DefaultBehaviorOnFatal)
}

// script is one file being played.
type script struct {
	t              *testing.T
	url, namespace string
	stdin          string // for the next command
	command        string // the last one, with its output
	output         string
}

func (s *script) play(text string) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		mark, rest, _ := strings.Cut(lines[i], " ")
		switch mark {
		case "", "#":
		case "$", "!":
			if err := s.run(rest); (err == nil) != (mark == "$") {
				s.t.Fatalf("kubectl %s: %v\n%s", rest, err, s.output)
			}
		case "<":
			s.stdin = rest
		case ">":
			end := i + 1
			for end < len(lines) && lines[end] != "" {
				end++
			}
			s.write(rest, strings.Join(lines[i+1:end], "\n")+"\n")
			i = end
		default:
			s.match(lines[i])
		}
	}
}

func (s *script) write(file, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) match(pattern string) {
	s.t.Helper()
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		s.t.Fatal(err)
	}
	if !re.MatchString(s.output) {
		s.t.Errorf("kubectl %s: nothing matches %s in\n%s", s.command, pattern, s.output)
	}
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

// run runs kubectl in this process; words may be put in single quotes.
func (s *script) run(line string) (err error) {
	args := []string{"--server", s.url, "--namespace", s.namespace}
	for _, w := range word.FindAllString(line, -1) {
		if strings.HasPrefix(w, "'") {
			w = strings.Trim(w, "'")
		}
		args = append(args, w)
	}
	defer s.openStdin()()
	var out lockedBuffer // output and errors come at the same time
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(exited)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("exit %d", e.code)
			_, _ = io.WriteString(&out, e.message)
		}
		s.command, s.output = line, out.String()
	}()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	return commands.RunKubectl(ctx, args, genericiooptions.IOStreams{In: os.Stdin, Out: &out, ErrOut: &out})
}

// openStdin makes a file the standard input, which kubectl reads by itself.
func (s *script) openStdin() (restore func()) {
	if s.stdin == "" {
		return func() {}
	}
	file, err := os.Open(s.stdin)
	if err != nil {
		s.t.Fatal(err)
	}
	before := os.Stdin
	s.stdin, os.Stdin = "", file
	return func() {
		os.Stdin = before
		file.Close()
	}
}
