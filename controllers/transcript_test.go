package controllers_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sandbox"
)

var rewrite = flag.Bool("rewrite", false, "write what happens into the transcripts")

// TestTranscripts runs the scenarios in testdata, each in a cluster of its own in
// virtual time. A scenario is a text of steps, divided by empty lines:
//
//	command
//	input, for some commands
//	----
//	output
//
//	create              objects in YAML
//	patch KIND NAME     a merge patch in YAML; a subresource may follow
//	delete KIND NAME    a propagation policy may follow
//	wait TIME           lets that much time go by
//	get KIND COLUMN...  a row an object; a column is a JSON path
//	events KIND NAME    what was told about an object
//	story               what happened to pods since the last story, in order
//
// The ends of generated names read as *, also in commands: there they stand for
// any pod. Lines that start with # are for the reader.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts, %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			inCluster(t, sandbox.Config{Nodes: 3}, func(c *cluster) { got = newTranscript(c).run(string(text)) })
			switch {
			case got == string(text):
			case *rewrite:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("it went otherwise; -rewrite shows how:\n%s", difference(string(text), got))
			}
		})
	}
}

// difference shows the first step that went otherwise.
func difference(want, got string) string {
	wants, gots := strings.Split(want, "\n\n"), strings.Split(got, "\n\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			return "got\n" + gots[i] + "\nwant\n" + wants[i]
		}
	}
	return fmt.Sprintf("%d steps, want %d", len(gots), len(wants))
}

type transcript struct {
	*cluster
	client  dynamic.Interface
	pods    watch.Interface
	clients map[string]schema.GroupVersionResource // by plural and kind
	seen    map[types.UID]string                   // what the story told of a pod last
	mu      sync.Mutex
	events  []watch.Event // of pods, not told yet
}

func newTranscript(c *cluster) *transcript {
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		c.Fatal(err)
	}
	lists, err := c.client.Discovery().ServerPreferredResources()
	if err != nil {
		c.Fatal(err)
	}
	t := &transcript{cluster: c, client: client, clients: map[string]schema.GroupVersionResource{}, seen: map[types.UID]string{}}
	for _, list := range slices.Backward(lists) { // the core group wins
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			c.Fatal(err)
		}
		for _, r := range list.APIResources {
			gvr := gv.WithResource(r.Name)
			t.clients[r.Name], t.clients[r.Kind] = gvr, gvr
		}
	}
	if t.pods, err = c.client.CoreV1().Pods("default").Watch(c.Context(), metav1.ListOptions{}); err != nil {
		c.Fatal(err)
	}
	go func() {
		for event := range t.pods.ResultChan() {
			t.mu.Lock()
			t.events = append(t.events, event)
			t.mu.Unlock()
		}
	}()
	return t
}

// run carries the steps out and returns the text with what happened.
func (t *transcript) run(text string) string {
	defer t.pods.Stop()
	var out strings.Builder
	for i, step := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		input, _, runs := strings.Cut(step+"\n", "\n----\n")
		if !runs {
			out.WriteString(step + "\n")
			continue
		}
		out.WriteString(input + "\n----\n" + t.step(input))
	}
	return out.String()
}

func (t *transcript) step(input string) string {
	var lines []string
	for line := range strings.SplitSeq(input, "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	words, body := strings.Fields(lines[0]), strings.Join(lines[1:], "\n")
	switch args := words[1:]; words[0] {
	case "create":
		return t.createAll(body)
	case "patch":
		return t.patchOne(args, body)
	case "delete":
		return t.deleteOne(args)
	case "wait":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			t.Fatal(err)
		}
		t.settle(d)
		return ""
	case "get":
		return t.get(args[0], args[1:])
	case "events":
		return t.eventsOf(args[0], args[1])
	case "story":
		return t.story()
	}
	t.Fatalf("no command %q", words[0])
	return ""
}

func (t *transcript) resource(name string) dynamic.ResourceInterface {
	gvr, found := t.clients[name]
	if !found {
		t.Fatalf("no kind %q", name)
	}
	if gvr.Resource == "nodes" || gvr.Resource == "namespaces" {
		return t.client.Resource(gvr)
	}
	return t.client.Resource(gvr).Namespace("default")
}

func (t *transcript) createAll(text string) string {
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := t.resource(object.GetKind()).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			return err.Error() + "\n"
		}
	}
	t.settle(0)
	return ""
}

func (t *transcript) patchOne(args []string, body string) string {
	patch, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := t.resource(args[0]).Patch(t.Context(), t.nameOf(args[0], args[1]), types.MergePatchType, patch, metav1.PatchOptions{}, args[2:]...); err != nil {
		return err.Error() + "\n"
	}
	t.settle(0)
	return ""
}

func (t *transcript) deleteOne(args []string) string {
	var opts metav1.DeleteOptions
	if len(args) > 2 {
		policy := metav1.DeletionPropagation(args[2])
		opts.PropagationPolicy = &policy
	}
	if err := t.resource(args[0]).Delete(t.Context(), t.nameOf(args[0], args[1]), opts); err != nil {
		return err.Error() + "\n"
	}
	t.settle(0)
	return ""
}

func (t *transcript) list(kind string) []unstructured.Unstructured {
	list, err := t.resource(kind).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// nameOf finds the first object that a name with * stands for, one that goes on
// rather than one that has ended or is being deleted.
func (t *transcript) nameOf(kind, name string) string {
	prefix, generated := strings.CutSuffix(name, "*")
	if !generated {
		return name
	}
	found := ""
	for _, object := range t.list(kind) {
		switch {
		case !strings.HasPrefix(object.GetName(), prefix):
		case object.GetDeletionTimestamp() == nil && !finished(object):
			return object.GetName()
		case found == "":
			found = object.GetName()
		}
	}
	if found == "" {
		t.Fatalf("no %s %s", kind, name)
	}
	return found
}

func finished(object unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return phase == "Succeeded" || phase == "Failed"
}

func (t *transcript) get(kind string, columns []string) string {
	var rows []string
	for _, object := range t.list(kind) {
		row := mask(object.GetName())
		for _, column := range columns {
			row += "  " + mask(t.value(object, column))
		}
		rows = append(rows, row)
	}
	slices.Sort(rows)
	if len(rows) == 0 {
		return "none\n"
	}
	return strings.Join(rows, "\n") + "\n"
}

func (t *transcript) value(object unstructured.Unstructured, column string) string {
	path := jsonpath.New(column).AllowMissingKeys(true)
	if err := path.Parse("{." + column + "}"); err != nil {
		t.Fatal(err)
	}
	results, err := path.FindResults(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, result := range results[0] {
		if text, isText := result.Interface().(string); isText {
			values = append(values, text)
			continue
		}
		encoded, err := json.Marshal(result.Interface())
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, string(encoded))
	}
	if len(values) == 0 {
		return "-"
	}
	return strings.Join(values, " ")
}

var (
	generated = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	uid       = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

func mask(text string) string {
	return generated.ReplaceAllString(uid.ReplaceAllString(text, "uid"), "-*")
}

func (t *transcript) eventsOf(kind, name string) string {
	var lines []string
	for _, object := range t.list("Event") {
		data, err := json.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		var event struct {
			corev1.Event
			Regarding *corev1.ObjectReference `json:"regarding"`
			Note      string                  `json:"note"`
		}
		if err := json.Unmarshal(data, &event); err != nil {
			t.Fatal(err)
		}
		if event.Regarding != nil {
			event.InvolvedObject, event.Message = *event.Regarding, event.Note
		}
		if t.clients[event.InvolvedObject.Kind] == t.clients[kind] && event.InvolvedObject.Name == name {
			lines = append(lines, fmt.Sprintf("%s %s: %s", event.Type, event.Reason, mask(event.Message)))
		}
	}
	slices.Sort(lines)
	return strings.Join(append(slices.Compact(lines), ""), "\n")
}

// story tells when pods came, became ready, ended and went.
func (t *transcript) story() string {
	t.settle(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	for _, event := range t.events {
		pod, isPod := event.Object.(*corev1.Pod)
		if !isPod {
			t.Fatalf("watch: %v", event.Object)
		}
		state := stateOf(event.Type, pod)
		if state != t.seen[pod.UID] {
			fmt.Fprintf(&out, "%s %s\n", mask(pod.Name), state)
		}
		t.seen[pod.UID] = state
	}
	t.events = nil
	return out.String()
}

func stateOf(event watch.EventType, pod *corev1.Pod) string {
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	image := pod.Spec.Containers[0].Image
	switch {
	case event == watch.Deleted:
		return "is gone"
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return strings.ToLower(string(pod.Status.Phase))
	case pod.DeletionTimestamp != nil:
		return "is terminating"
	case ready:
		return "is ready with " + image
	}
	return "is pending"
}
