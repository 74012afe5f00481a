package scheduler_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts in testdata should show from what happens")

// TestTranscripts plays the files of testdata: each line that begins with a
// word is a command, and what it shows follows it, indented.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var played strings.Builder
			inWorld(t, nil, nil, func(w *world) {
				for line := range strings.Lines(string(script)) {
					if strings.HasPrefix(line, "    ") {
						continue
					}
					played.WriteString(line)
					if command := strings.TrimSpace(line); command != "" && command[0] != '#' {
						played.WriteString(w.play(command))
						w.settle()
					}
				}
			})
			switch got := played.String(); {
			case *rewrite:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			case got != string(script):
				t.Errorf("it went otherwise:\n%s", got)
			}
		})
	}
}

// play runs one command of a transcript and returns what it shows.
func (w *world) play(command string) string {
	w.Helper()
	verb, rest, _ := strings.Cut(command, " ")
	name, argument, _ := strings.Cut(rest, " ")
	switch verb {
	case "node":
		w.must(w.client.CoreV1().Nodes().Create(w.Context(), frameworktest.Node(w, rest), metav1.CreateOptions{}))
	case "label":
		key, value, _ := strings.Cut(argument, "=")
		node := w.node(name)
		metav1.SetMetaDataLabel(&node.ObjectMeta, key, value)
		w.updateNode(node)
	case "uncordon":
		node := w.node(name)
		node.Spec.Unschedulable = false
		w.updateNode(node)
	case "priority":
		value, never, _ := strings.Cut(argument, " ")
		n, err := strconv.Atoi(value)
		w.must(nil, err)
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: int32(n)}
		if never != "" {
			policy := v1.PreemptionPolicy(never)
			class.PreemptionPolicy = &policy
		}
		w.must(w.client.SchedulingV1().PriorityClasses().Create(w.Context(), class, metav1.CreateOptions{}))
	case "pod":
		w.create(rest)
	case "ungate":
		pod := w.pod(name)
		pod.Spec.SchedulingGates = nil
		w.must(w.client.CoreV1().Pods("default").Update(w.Context(), pod, metav1.UpdateOptions{}))
	case "delete":
		w.remove(name)
	case "wait":
		d, err := time.ParseDuration(rest)
		w.must(nil, err)
		time.Sleep(d)
	case "show":
		return w.show(w.pod(name))
	default:
		w.Fatalf("unknown command %q", verb)
	}
	return ""
}

// show tells of a pod what scheduling has to do with, and its events.
func (w *world) show(pod *v1.Pod) string {
	w.Helper()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "    "+format+"\n", args...) }
	if pod.Spec.NodeName != "" {
		line("on %s", pod.Spec.NodeName)
	}
	if pod.Status.NominatedNodeName != "" {
		line("nominated %s", pod.Status.NominatedNodeName)
	}
	if pod.DeletionTimestamp != nil {
		line("being deleted")
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled || c.Type == v1.DisruptionTarget {
			line("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, event := range w.events(pod.Name) {
		line("event %s", strings.ReplaceAll(event, string(w.uidOf("urgent")), "UID"))
	}
	return b.String()
}

// uidOf is the uid of a pod that may not be there, "-" then.
func (w *world) uidOf(name string) string {
	pod, err := w.client.CoreV1().Pods("default").Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		return "-\x00"
	}
	return string(pod.UID)
}
