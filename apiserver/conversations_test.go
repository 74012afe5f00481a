package apiserver_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

// conversation is a recorded exchange with a real kube-apiserver v1.37.2.
type conversation struct {
	ID    string `json:"id"`
	Steps []step `json:"steps"`
}

// step is a request and, if Want is set, the answer that counts.
type step struct {
	Name, Method, Path, Accept, Type, Agent string
	Body                                    any
	Headers                                 map[string]string
	Raw, Managed, Subset                    bool
	CodeOnly                                bool `json:"code_only"`
	Sleep                                   float64
	Want                                    map[string]any
}

// leastAlike is the share of steps of each family that must be as recorded, in
// percent. It only ever rises.
var leastAlike = map[string]int{
	"discovery": 97, "errors": 100, "kind": 100, "list": 100, "watch": 100, "patch": 100, "delete": 100, "yaml": 100,
	"invalid": 100, "immutable": 100, "sub": 100,
	"crd": 100, "apply": 100,
	"auth": 100,
}

// TestConversations replays what a real server was asked and compares the answers.
func TestConversations(t *testing.T) {
	url := startServer(t)
	alike, compared := map[string]int{}, map[string]int{}
	for _, c := range readConversations(t) {
		family, _, _ := strings.Cut(c.ID, "/")
		good, all, diffs := play(url, c)
		alike[family] += good
		compared[family] += all
		for _, d := range diffs {
			t.Logf("%s %s", c.ID, d)
		}
	}
	for family, n := range compared {
		least, known := leastAlike[family]
		t.Logf("%s: %d of %d steps alike", family, alike[family], n)
		if !known || alike[family]*100 < least*n {
			t.Errorf("family %s: %d of %d steps alike, want %d%%", family, alike[family], n, least)
		}
	}
}

func readConversations(t *testing.T) []conversation {
	t.Helper()
	f, err := os.Open("../testdata/conversations.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []conversation
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// play runs a conversation: how many steps were alike of how many, and where not.
func play(url string, c conversation) (alike, compared int, diffs []string) {
	seen := map[string]any{}
	for i, s := range c.Steps {
		if !s.Raw {
			s.Path = fill(s.Path, seen).(string)
			s.Body = fill(s.Body, seen)
		}
		got, err := askSettled(url, s)
		if err != nil {
			diffs = append(diffs, fmt.Sprintf("step %d %s %s: %v", i, s.Method, s.Path, err))
			compared++
			continue
		}
		name := s.Name
		if name == "" {
			name = strconv.Itoa(i)
		}
		seen[name] = got["body"]
		if s.Sleep > 0 {
			time.Sleep(time.Duration(s.Sleep * float64(time.Second))) // the recording says how long
		}
		if s.Want == nil {
			continue
		}
		compared++
		if d := differences(s, got); len(d) > 0 {
			diffs = append(diffs, fmt.Sprintf("step %d %s %.120s\n      %s", i, s.Method, s.Path, strings.Join(d, "\n      ")))
			continue
		}
		alike++
	}
	return alike, compared, diffs
}

// settling are the resources whose status a loop inside the server writes, in
// Kubernetes as here, a moment after the object itself.
var settling = regexp.MustCompile(`/(flowschemas|apiservices)\b`)

// askSettled asks, and asks again as long as a status that is recorded is missing.
func askSettled(url string, s step) (map[string]any, error) {
	got, err := ask(url, s)
	for range 100 {
		if err != nil || s.Method != http.MethodGet || !settling.MatchString(s.Path) || s.Want == nil || len(differences(s, maps.Clone(got))) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
		got, err = ask(url, s)
	}
	return got, err
}

func ask(url string, s step) (map[string]any, error) {
	var body io.Reader
	if s.Body != nil {
		text, ok := s.Body.(string)
		if !ok {
			b, err := json.Marshal(s.Body)
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		body = strings.NewReader(text)
	}
	r, err := http.NewRequest(s.Method, url+s.Path, body)
	if err != nil {
		return nil, err
	}
	set := func(key, value, fallback string) {
		if value == "" {
			value = fallback
		}
		r.Header.Set(key, value)
	}
	set("Accept", s.Accept, "application/json")
	set("User-Agent", s.Agent, "golden")
	if body != nil {
		set("Content-Type", s.Type, "application/json")
	}
	for k, v := range s.Headers {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	warnings := []any{}
	for _, w := range resp.Header.Values("Warning") {
		warnings = append(warnings, w)
	}
	sort.Slice(warnings, func(i, j int) bool { return warnings[i].(string) < warnings[j].(string) })
	return map[string]any{"code": float64(resp.StatusCode), "type": media, "warnings": warnings, "body": parse(s, resp.StatusCode, raw)}, nil
}

// parse reads an answer: a watch is a list of events.
func parse(s step, code int, raw []byte) any {
	if !strings.Contains(s.Path, "watch=1") && !strings.Contains(s.Path, "watch=true") {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return string(raw)
		}
		return v
	}
	events := []any{}
	for line := range strings.Lines(string(raw)) {
		var v any
		if json.Unmarshal([]byte(line), &v) == nil {
			events = append(events, v)
		}
	}
	if code != http.StatusOK && len(events) == 1 {
		return events[0]
	}
	return events
}

var reference = regexp.MustCompile(`\$\{([^}]+)\}`)

// fill puts values out of earlier answers in the place of ${STEP.path}.
func fill(v any, seen map[string]any) any {
	switch v := v.(type) {
	case string:
		return reference.ReplaceAllStringFunc(v, func(m string) string {
			var cur any = seen
			for part := range strings.SplitSeq(m[2:len(m)-1], ".") {
				switch c := cur.(type) {
				case map[string]any:
					cur = c[part]
				case []any:
					if i, err := strconv.Atoi(part); err == nil && i < len(c) {
						cur = c[i]
					}
				}
			}
			return fmt.Sprint(cur)
		})
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = fill(x, seen)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = fill(x, seen)
		}
		return out
	}
	return v
}

// differences compares an answer with the recorded one, volatile values masked.
func differences(s step, got map[string]any) []string {
	if s.CodeOnly {
		return compare(s.Want["code"], got["code"], "code", nil)
	}
	if body, ok := got["body"].(map[string]any); ok {
		got["body"] = hideGenerated(body)
	}
	got["body"] = mask(got["body"], s.Managed)
	want := map[string]any{}
	for k, v := range s.Want {
		want[k] = v
	}
	want["body"] = mask(want["body"], s.Managed)
	if s.Subset {
		got["body"] = project(want["body"], got["body"])
	}
	return compare(any(want), any(got), "", nil)
}

// hideGenerated masks a generated name wherever it stands in the object.
func hideGenerated(body map[string]any) any {
	m, _ := body["metadata"].(map[string]any)
	name, _ := m["name"].(string)
	if m["generateName"] == nil || name == "" {
		return body
	}
	b, err := json.Marshal(body)
	if err != nil {
		return body
	}
	var out any
	if json.Unmarshal([]byte(strings.ReplaceAll(string(b), strconv.Quote(name), `"*generated*"`)), &out) != nil {
		return body
	}
	return out
}

var (
	maskedKeys = map[string]bool{"uid": true, "resourceVersion": true, "creationTimestamp": true, "deletionTimestamp": true, "selfLink": true,
		"continue": true, "expirationTimestamp": true, "healthCheckNodePort": true, "serverAddress": true, "remainingItemCount": true}
	maskedColumns = map[string]bool{"Age": true, "Last Seen": true, "First Seen": true, "Created At": true, "CreatedAt": true, "Cluster-IP": true}
	maskedText    = []struct {
		pattern *regexp.Regexp
		to      string
	}{
		{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "*time*"},
		{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "*uuid*"},
		{regexp.MustCompile(`(\d+):3[0-2]\d{3}/`), "$1:*/"},
		{regexp.MustCompile(`\(\w+ ago\)`), "(* ago)"}, // counted from the day of the test
		{regexp.MustCompile(`current: \d+`), "current: *"},
		{regexp.MustCompile(`(precondition|record) \(\d+\)`), "$1 (*)"},
		{regexp.MustCompile(`resource version: \d+ \(\d+\)`), "resource version: * (*)"},
		{regexp.MustCompile(`resourceVersion: "\d+"`), `resourceVersion: "*"`},
		{regexp.MustCompile(`(?s)Invalid value: "\{.*\}"`), "Invalid value: *object*"},
		{regexp.MustCompile(`Bad_[a-z0-9]{5}\b`), "Bad_*"},
		{regexp.MustCompile(`RBAC: allowed by .*"system:authenticated"`), "RBAC: allowed to system:authenticated"},
	}
)

// mask hides what differs from run to run.
func mask(v any, managed bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if k != "managedFields" || managed {
				out[k] = maskField(v, k, x, managed)
			}
		}
		maskAges(out)
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = mask(x, managed)
		}
		return out
	case string:
		for _, m := range maskedText {
			v = m.pattern.ReplaceAllString(v, m.to)
		}
		return v
	}
	return v
}

func maskField(parent map[string]any, k string, x any, managed bool) any {
	_, isMap := x.(map[string]any)
	list, isList := x.([]any)
	empty := x == nil || x == "" || x == float64(0) || x == false
	switch {
	case k == "name" && parent["generateName"] != nil && parent["generateName"] != "":
		return "*generated*"
	case maskedKeys[k] && !isMap && !isList:
		if empty {
			return x
		}
		return "*"
	case (k == "clusterIP" || k == "nodePort") && x != "None" && x != "" && x != float64(0):
		return "*"
	case k == "clusterIPs" && !(len(list) == 1 && list[0] == "None"):
		return "*"
	}
	return mask(x, managed)
}

// maskAges hides the cells of a Table that hold times and addresses.
func maskAges(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	rows, _ := table["rows"].([]any)
	for i, c := range columns {
		if name, _ := c.(map[string]any)["name"].(string); !maskedColumns[name] {
			continue
		}
		for _, r := range rows {
			if cells, _ := r.(map[string]any)["cells"].([]any); i < len(cells) && cells[i] != "None" {
				cells[i] = "*"
			}
		}
	}
}

func compare(want, got any, path string, out []string) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := map[string]bool{}
		for k := range w {
			keys[k] = true
		}
		for k := range g {
			keys[k] = true
		}
		for _, k := range sortedKeys(keys) {
			p := strings.TrimPrefix(path+"."+k, ".")
			if _, ok := g[k]; !ok {
				out = append(out, fmt.Sprintf("missing %s = %.200v", p, w[k]))
			} else if _, ok := w[k]; !ok {
				out = append(out, fmt.Sprintf("extra %s = %.200v", p, g[k]))
			} else {
				out = compare(w[k], g[k], p, out)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if len(w) != len(g) {
			out = append(out, fmt.Sprintf("%s: %d items, want %d: got %.200v want %.200v", path, len(g), len(w), g, w))
		}
		for i := 0; i < min(len(w), len(g)); i++ {
			out = compare(w[i], g[i], fmt.Sprintf("%s[%d]", path, i), out)
		}
		return out
	}
	if !reflect.DeepEqual(want, got) {
		out = append(out, fmt.Sprintf("%s: got %.300v want %.300v", path, got, want))
	}
	return out
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// project keeps of an answer what the recording names.
func project(want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := map[string]any{}
		for k := range w {
			if v, ok := g[k]; ok {
				out[k] = project(w[k], v)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return got
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = project(w[i], g[i])
		}
		return out
	}
	return got
}
