package ui_test

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/simclock"
)

var screenshots = flag.String("screenshots", "", "directory for screenshots of each view")

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: nginx
        image: nginx:1.29
        resources: {requests: {cpu: 100m, memory: 64Mi}}
`

// start returns the URL of the page.
func start(t *testing.T) string {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Config{
		Nodes: 3, HTTP: "127.0.0.1:0", Clock: simclock.New(1), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.URL() + "/ui/"
}

// TestInBrowser goes through the views as a user does: creates a Deployment in the
// editor, follows it to Running, looks at its pods, revisions and scheduling.
func TestInBrowser(t *testing.T) {
	b := startChromium(t, 1400, 1000)
	b.open(start(t) + "#controls")

	write := func(text string) {
		b.evaluate(fmt.Sprintf(`(() => { const e = document.querySelector('textarea'); e.value = %q; e.dispatchEvent(new Event('input')); })()`, text))
	}
	b.wait(`!!document.querySelector('textarea')`)
	write("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replica: 3\n")
	b.wait(`document.querySelector('.results .bad')?.textContent.includes('spec.replica')`)
	write(manifest)
	b.wait(`document.querySelector('.results .ok')?.textContent.includes('valid')`)
	b.press("Apply")
	b.wait(`document.querySelector('.results .ok')?.textContent.includes('applied')`)
	b.screenshot(*screenshots, "controls")

	b.evaluate(`location.hash = 'pipeline/deployments.apps/default/web'`)
	b.wait(`[...document.querySelectorAll('.waterfall tr')].filter((r) => r.textContent.includes('Running and Ready')).length === 3`)
	b.wait(`[...document.querySelectorAll('.flow .lane-label')].filter((l) => /^(scheduler|kubelet node-.)$/.test(l.textContent)).length === 4`)
	b.screenshot(*screenshots, "pipeline")
	b.evaluate(`[...document.querySelectorAll('.waterfall tr')].find((r) => r.textContent.includes('bound')).querySelector('button').click()`)
	b.wait(`document.querySelector('.command-list')?.textContent.includes('kind: "Binding"')`)

	b.evaluate(`document.getElementById('tab-pipeline').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))`)
	b.wait(`location.hash === '#objects' && document.activeElement.id === 'tab-objects'`)
	b.wait(`document.querySelectorAll('.dots .pod.ok').length === 3`)
	b.wait(`document.querySelectorAll('.tree .tree .tree a').length === 3`)
	b.evaluate(`location.hash = 'objects/deployments.apps/default/web'`)
	b.wait(`document.querySelector('.object ins')?.textContent.includes('+ ')`)
	b.wait(`[...document.querySelectorAll('.yaml .line')].some((l) => l.textContent.includes('replicas: 3') && l.querySelector('.manager')?.textContent === 'kubesim-page')`)
	b.screenshot(*screenshots, "objects")

	b.evaluate(`location.hash = 'revisions'`)
	b.wait(`document.querySelectorAll('#panel-revisions .dots .pod.ok').length === 3`)
	b.evaluate(`(() => { // back to where the scheduler bound the first pod
		const axis = document.querySelector('.axis[type=range]'), write = document.querySelector('#panel-revisions .now');
		for (let i = 0; i <= Number(axis.max) && !write.textContent.includes('scheduler bound'); i++) { axis.value = i; axis.dispatchEvent(new Event('input')); }
	})()`)
	b.wait(`document.querySelectorAll('#panel-revisions .dots .pod.starting').length > 0 && document.querySelectorAll('#panel-revisions .dots .pod.ok').length === 0`)
	b.screenshot(*screenshots, "revisions")

	b.evaluate(`location.hash = 'scheduler'`)
	b.wait(`document.querySelectorAll('tr.chosen').length === 1 && document.querySelector('#panel-scheduler thead').textContent.includes('NodeResourcesFit')`)
	b.screenshot(*screenshots, "scheduler")

	b.evaluate(`location.hash = 'controls'`)
	b.press("Pause")
	b.wait(`document.querySelector('#panel-controls .now').textContent.includes('paused')`)
	b.press("Resume")
	b.wait(`document.querySelector('#panel-controls .now').textContent.includes('×1')`)

	b.evaluate(`document.getElementById('language').click()`)
	b.wait(`document.documentElement.lang === 'zh' && document.getElementById('tab-pipeline').textContent === '流水线'`)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	b.evaluate(`location.hash = 'pipeline/deployments.apps/default/web'`)
	b.wait(`document.querySelectorAll('.waterfall tr').length > 10 && document.querySelectorAll('.flow .write').length > 10`)
	b.screenshot(*screenshots, "pipeline-zh-dark")
	b.evaluate(`location.hash = 'objects/deployments.apps/default/web'`)
	b.wait(`document.querySelectorAll('.dots .pod.ok').length === 3 && !!document.querySelector('.object ins')`)

	for _, complaint := range b.complaints {
		t.Error(complaint)
	}
}

// TestManyPods looks at more pods than are drawn, and holds the page to a bound.
func TestManyPods(t *testing.T) {
	b := startChromium(t, 1400, 1000)
	b.open(start(t) + "#objects")
	b.wait(`document.querySelectorAll('.node').length === 3`)
	b.evaluate(fmt.Sprintf(`fetch('/apis/apps/v1/namespaces/default/deployments', {method: 'POST', headers: {'Content-Type': 'application/yaml'}, body: %q.replace('replicas: 3', 'replicas: 300').replace(/100m/, '1m').replace('64Mi', '1Mi')}).then((r) => r.status)`, manifest))
	b.wait(`document.querySelectorAll('.dots .pod.ok').length >= 180`)
	b.evaluate(`location.hash = 'pipeline/deployments.apps/default/web'`)
	b.wait(`/\d+ more steps of 297 more pods not shown/.test(document.getElementById('panel-pipeline').textContent)`)
	if n := b.evaluate(`document.querySelectorAll('*').length`).(float64); n > 5000 {
		t.Errorf("%v elements", n)
	}
}

// press clicks the button with this text in the view.
func (b *chromium) press(text string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('[role=tabpanel]:not([hidden]) button')].find((e) => e.textContent === %q)`, text)
	b.wait("!!" + find)
	b.evaluate(find + ".click()")
}
