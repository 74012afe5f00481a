package validation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// recordings is where answers of a real API server lie, beside the project.
const recordings = "../../../shared/golden/open"

type recording struct {
	ID    string
	Steps []struct {
		Method, Path string
		Body         json.RawMessage
		Want         struct {
			Code     int
			Body     json.RawMessage
			Warnings []string
		}
	}
}

// TestRecordedCreates validates objects that a real API server was sent, and
// compares its verdict, causes and warnings with ours.
func TestRecordedCreates(t *testing.T) {
	for _, set := range []struct {
		file  string
		share float64 // reached before; less is a step back
	}{
		{"manifests-builtin.json", 1},
		{"conversations.json", 1},
	} {
		t.Run(set.file, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(recordings, set.file))
			if os.IsNotExist(err) {
				t.Skip("recordings are not here")
			}
			if err != nil {
				t.Fatal(err)
			}
			var cases []recording
			if err := json.Unmarshal(raw, &cases); err != nil {
				t.Fatal(err)
			}
			same, all := replayCreates(t, cases)
			share := float64(same) / float64(all)
			t.Logf("%d of %d alike (%.1f %%)", same, all, 100*share)
			if share < set.share {
				t.Errorf("share alike is %.4f, was %.4f", share, set.share)
			}
		})
	}
}

func replayCreates(t *testing.T, cases []recording) (same, all int) {
	t.Helper()
	for _, c := range cases {
		for _, s := range c.Steps {
			if s.Method != "POST" || (s.Want.Code != 201 && s.Want.Code != 422) || s.Body == nil {
				continue
			}
			obj := decodeRecorded(s.Body, s.Path)
			if obj == nil {
				continue
			}
			v, ok := validatorOf(obj)
			if !ok {
				continue
			}
			all++
			want := recordedCauses(s.Want.Code, s.Want.Body)
			diff := differing(causesOf(v.validate(obj)), want)
			if diff == "" && s.Want.Code == 201 {
				diff = differingTexts(v.warn(obj), s.Want.Warnings)
				if errs := rewritten(v, obj); len(errs) > 0 {
					diff += fmt.Sprintf("\nunchanged, yet %s", errs.ToAggregate())
				}
			}
			if diff == "" {
				same++
			} else {
				t.Logf("%s: %s", c.ID, diff)
			}
		}
	}
	return same, all
}

// decodeRecorded reads a body of JSON or YAML and completes it as a create does,
// nil when it is not an object that we know.
func decodeRecorded(body json.RawMessage, path string) runtime.Object {
	var text string
	raw := []byte(body)
	if json.Unmarshal(body, &text) == nil {
		raw = []byte(text)
	}
	raw, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return nil
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return nil
	}
	meta, ok := obj.(metav1.Object)
	if !ok || strings.Count(path, "/") > 8 {
		return nil
	}
	meta.SetUID(types.UID("0b9e3a4c-0000-4000-8000-000000000000"))
	meta.SetResourceVersion("")
	meta.SetGeneration(1)
	meta.SetManagedFields(nil)
	if _, rest, ok := strings.Cut(path, "/namespaces/"); ok && strings.Contains(rest, "/") {
		ns, _, _ := strings.Cut(rest, "/")
		meta.SetNamespace(ns)
	} else {
		meta.SetNamespace("")
	}
	if meta.GetName() == "" && meta.GetGenerateName() != "" {
		meta.SetName(meta.GetGenerateName() + generated)
	}
	return obj
}

// rewritten are the errors of an accepted object that is written back unchanged.
func rewritten(v validator, obj runtime.Object) field.ErrorList {
	if v.rewrite == nil {
		return nil
	}
	return v.rewrite(obj)
}

// generated is the random end of a generated name, which recordings mask.
const generated = "bcdfg"

type cause struct{ Reason, Field, Message string }

func recordedCauses(code int, body json.RawMessage) []cause {
	if code == 201 {
		return nil
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Details == nil {
		return []cause{{Reason: "unreadable"}}
	}
	out := []cause{}
	for _, c := range status.Details.Causes {
		out = append(out, cause{string(c.Type), c.Field, c.Message})
	}
	return out
}

func causesOf(errs field.ErrorList) []cause {
	var out []cause
	for _, e := range errs {
		reason := string(e.Type)
		if e.Type == field.ErrorTypeTypeInvalid {
			reason = string(field.ErrorTypeInvalid)
		}
		out = append(out, cause{reason, e.Field, e.ErrorBody()})
	}
	return out
}

var masked = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// allocated are refusals that depend on the cluster, and are others' business.
var allocated = regexp.MustCompile(`failed to allocate|not configured (on|for)|is not configured|admin access to devices`)

// differing compares lists of causes, values that the recording masks aside.
func differing(got, want []cause) string {
	// An access review shows its metadata, managed fields and all.
	metadata := regexp.MustCompile(`metadata: Invalid value: \{.*\}:`)
	mask := func(list []cause) []string {
		var out []string
		for _, c := range list {
			if allocated.MatchString(c.Message) {
				continue
			}
			text := fmt.Sprintf("%s %s: %s", c.Reason, c.Field, masked.ReplaceAllString(strings.ReplaceAll(c.Message, generated, "*"), "*uuid*"))
			out = append(out, metadata.ReplaceAllString(text, "metadata: Invalid value: {}:"))
		}
		return out
	}
	// Kubernetes walks labels and annotations in random order.
	byField := func(a, b cause) int { return strings.Compare(a.Field+a.Message, b.Field+b.Message) }
	if len(got) == len(want) && len(got) > 1 && got[0].Field == got[len(got)-1].Field {
		slices.SortFunc(got, byField)
		slices.SortFunc(want, byField)
	}
	g, w := mask(got), mask(want)
	if slices.EqualFunc(g, w, matchesMask) {
		return ""
	}
	return fmt.Sprintf("\n got %s\nwant %s", strings.Join(g, "\n     "), strings.Join(w, "\n     "))
}

func matchesMask(got, want string) bool {
	if !strings.Contains(want, "*object*") {
		return got == want
	}
	before, after, _ := strings.Cut(want, "*object*")
	return strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
}

// fromServer are warnings about a request rather than its object.
var fromServer = regexp.MustCompile(`is deprecated in v|duplicate field|already set in map|unknown field`)

// differingTexts compares warnings with those of a recording.
func differingTexts(got, headers []string) string {
	var want []string
	for _, h := range headers {
		text, err := strconv.Unquote(strings.TrimPrefix(h, "299 - "))
		if err == nil && !fromServer.MatchString(text) {
			want = append(want, text)
		}
	}
	slices.Sort(got) // as recordings are
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("\nwarnings %q\n    want %q", got, want)
}

// validatorOf finds what checks an object's kind; see validators.
func validatorOf(obj runtime.Object) (validator, bool) {
	gvks, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return validator{}, false
	}
	v, ok := validators[gvks[0]]
	return v, ok
}
