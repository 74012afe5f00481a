package apiserver_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type toldWatch struct {
	Resource, Namespace, Selector, User, Why string
	From, Seen                               int64
	Behind                                   int
	Ended                                    *time.Time
}

type watchesAnswer struct {
	Revision       int64
	Watches, Ended []toldWatch
}

func askWatches(t *testing.T, url string) (answer watchesAnswer) {
	t.Helper()
	_, body := fetch(t, url+"/debug/kubesim/watches")
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return answer
}

// A watch shows where it is in the log while it is open, and why it ended.
func TestWatches(t *testing.T) {
	url := startServer(t)
	maps := newClient(t, url).CoreV1().ConfigMaps("default")
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "odd"})
	if err != nil {
		t.Fatal(err)
	}
	last := createConfigMaps(t, newClient(t, url), "default", 2)
	revision, _ := strconv.ParseInt(last.ResourceVersion, 10, 64)
	from, _ := strconv.ParseInt(list.ResourceVersion, 10, 64)
	for range 2 {
		<-w.ResultChan()
	}
	answer := askWatches(t, url)
	i := slices.IndexFunc(answer.Watches, func(w toldWatch) bool { return w.Resource == "configmaps" })
	if i < 0 {
		t.Fatalf("no watch of configmaps: %+v", answer)
	}
	open := answer.Watches[i]
	if open.Namespace != "default" || open.Selector != "odd" || open.User != "kubesim:local" || open.From != from || open.Seen < revision || open.Behind != 0 {
		t.Errorf("open watch %+v, want one of odd in default from %d to %d", open, from, revision)
	}
	if answer.Revision < revision {
		t.Errorf("revision %d, want %d", answer.Revision, revision)
	}
	w.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if answer = askWatches(t, url); len(answer.Ended) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the watch does not end")
		}
	}
	if end := answer.Ended[len(answer.Ended)-1]; end.Why != "the client left" || end.Seen < revision || end.Ended == nil {
		t.Errorf("ended watch %+v", end)
	}
}
