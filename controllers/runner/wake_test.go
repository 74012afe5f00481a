package runner

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestNewestEventWakes(t *testing.T) {
	pods := &Watch{Resource: corev1.Resource("pods")}
	key := Key{Namespace: "default", Name: "web"}
	w := wakes{byKey: map[Key]wake{}}
	for _, event := range []wake{{revision: 7, watch: pods, object: Key{Namespace: "default", Name: "a"}}, {revision: 9, watch: pods, object: Key{Namespace: "default", Name: "b"}}, {revision: 8, watch: pods}} {
		w.put(key, event)
	}
	event, found := w.take(key)
	if !found || event.revision != 9 || event.objectName() != "pods/default/b" {
		t.Errorf("took %+v", event)
	}
	if _, found := w.take(key); found {
		t.Error("an event woke twice")
	}
}
