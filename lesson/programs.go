package lesson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// programs are those that a lesson has beside the tools of its shell.
func programs(config *rest.Config) map[string]process.Program {
	return map[string]process.Program{
		"kubectl": func(ctx context.Context, p *process.Process) int {
			return kubectl(ctx, config.Host, p, p.Args[1:])
		},
		"kubesim": func(ctx context.Context, p *process.Process) int { return kubesim(ctx, config, p) },
	}
}

func kubesim(ctx context.Context, config *rest.Config, p *process.Process) int {
	if len(p.Args) > 1 && p.Args[1] == "kubectl" {
		return kubectl(ctx, config.Host, p, p.Args[2:])
	}
	root := &cobra.Command{Use: "kubesim", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(commands.Client()...)
	root.SetArgs(p.Args[1:])
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	if err := root.ExecuteContext(commands.WithConfig(ctx, config)); err != nil {
		p.Errorf("%v", err)
		return 1
	}
	return 0
}

// kubectl runs the kubectl of this very program as a process: it keeps its state in
// global variables and ends by os.Exit, so two can't share one.
func kubectl(ctx context.Context, server string, p *process.Process, args []string) int {
	program, err := os.Executable()
	if err != nil {
		p.Errorf("%v", err)
		return 1
	}
	dir, err := os.MkdirTemp("", "kubesim-lesson-")
	if err != nil {
		p.Errorf("%v", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if args, err = handOver(p, args, dir); err != nil {
		p.Errorf("%v", err)
		return 1
	}
	ownFlags := []string{"kubectl", "--server", server, "--kubeconfig", os.DevNull, "--cache-dir", filepath.Join(dir, "cache")}
	cmd := exec.CommandContext(ctx, program, append(ownFlags, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir}
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	if err := cmd.Run(); err != nil {
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			return code
		}
		p.Errorf("%v", err)
		return 1
	}
	return 0
}

// maxFile bounds a file that is handed to kubectl.
const maxFile = 4 << 20

// handOver copies the files that are named by -f, and what comes by standard input,
// into a directory of the host, since kubectl reads files there, and names them so.
func handOver(p *process.Process, args []string, dir string) ([]string, error) {
	if slices.Contains(args, "logs") {
		return args, nil // where -f is to follow
	}
	args = slices.Clone(args)
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		flag, name, joined := strings.Cut(args[i], "=")
		switch {
		case flag != "-f" && flag != "--filename":
			continue
		case !joined && i+1 == len(args):
			return args, nil
		case !joined:
			i++
			name = args[i]
		}
		if strings.Contains(name, "://") {
			return nil, errors.New("a lesson has no network")
		}
		file := filepath.Join(dir, fmt.Sprintf("%d-%s.yaml", i, filepath.Base(name)))
		content, err := contentOf(p, name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
		args[i] = file
		if joined {
			args[i] = flag + "=" + file
		}
	}
	return args, nil
}

func contentOf(p *process.Process, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(p.Stdin, maxFile))
	}
	content, err := p.Machine.FS().ReadFile(p.Path(name))
	if err != nil {
		return nil, fmt.Errorf("the path %q does not exist", name)
	}
	return content, nil
}
