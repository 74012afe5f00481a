package ui_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/lesson"
	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/simclock"
)

// CI does with fewer; make ui asks for all.
var (
	screenshots = flag.String("screenshots", "", "directory for screenshots of each view")
	pods        = flag.Int("pods", 300, "pods that the page is shown")
	events      = flag.Int("events", 4000, "writes that pass while the page is looked at")
)

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

// TestMain makes this program a kubectl where a lesson runs it as one.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "kubectl" {
		os.Exit(m.Run())
	}
	cmd := commands.Kubectl()
	cmd.SetArgs(os.Args[2:])
	if err := cmd.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// start returns the URL of the page.
func start(t *testing.T, nodes int) string {
	t.Helper()
	lessons := lesson.NewServer()
	t.Cleanup(func() {
		if err := lessons.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := sandbox.Start(t.Context(), sandbox.Config{
		Nodes: nodes, HTTP: "127.0.0.1:0", Clock: simclock.New(1), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Debug: map[string]http.Handler{lesson.Path: lessons, lesson.Path + "/": lessons},
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
	b.open(start(t, 3) + "#controls")

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
	b.wait(`[...document.querySelectorAll('.cursors tr')].some((r) => r.textContent.includes('kube-controller-manager') && r.textContent.includes('deployments.apps'))`)
	b.wait(`[...document.querySelectorAll('#panel-revisions table')].some((table) => table.textContent.includes('the client left'))`)
	b.screenshot(*screenshots, "revisions")

	b.evaluate(`location.hash = 'scheduler'`)
	b.wait(`document.querySelectorAll('tr.chosen').length === 1 && document.querySelector('#panel-scheduler thead').textContent.includes('NodeResourcesFit')`)
	b.screenshot(*screenshots, "scheduler")

	b.evaluate(`location.hash = 'controls'`)
	b.press("Pause")
	b.wait(`document.querySelector('#panel-controls .now').textContent.includes('paused')`)
	b.press("Resume")
	b.wait(`document.querySelector('#panel-controls .now').textContent.includes('×1')`)

	b.evaluate(`(() => { document.querySelector('#panel-controls form select').value = 'pause'; })()`)
	b.press("Break")
	b.wait(`/pause a component.*scheduler/.test(document.querySelector('.faults table')?.textContent)`)
	b.press("End all")
	b.wait(`!document.querySelector('.faults table')`)

	b.evaluate(`location.hash = 'lessons/5'`)
	b.press("Begin")
	b.press("Run")
	b.wait(`document.querySelector('.output')?.textContent.includes('configmap/counter created')`)
	b.press("Go on")
	b.press("Run")
	b.wait(`document.querySelectorAll('.output').length === 2`)
	b.press("Go on")
	b.evaluate(`document.querySelector('input[type=radio][value=a]').click()`)
	b.press("Run")
	b.wait(`document.querySelector('.course .bad')?.textContent === 'Not a: it is b.'`)
	b.screenshot(*screenshots, "lessons")

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
	b.open(start(t, *pods/100+1) + "#objects")
	b.wait(`document.querySelectorAll('.node').length >= 3`)
	b.watchLongTasks()
	text := strings.NewReplacer("replicas: 3", fmt.Sprintf("replicas: %d", *pods), "100m", "1m", "64Mi", "1Mi").Replace(manifest)
	b.evaluate(fmt.Sprintf(`fetch('/apis/apps/v1/namespaces/default/deployments', {method: 'POST', headers: {'Content-Type': 'application/yaml'}, body: %q}).then((r) => r.status)`, text))
	b.waitFor(3*time.Minute, fmt.Sprintf(`(() => { // as the boxes' legends count them
		const counts = [...document.querySelectorAll('.legend > span')].map((e) => /Running (\d+)/.exec(e.textContent)).filter(Boolean);
		return counts.reduce((sum, m) => sum + Number(m[1]), 0) >= %d;
	})()`, min(*pods, 60*85)))
	b.evaluate(`location.hash = 'pipeline/deployments.apps/default/web'`)
	b.wait(`/\d+ more steps of \d+ more pods not shown|first steps are forgotten/.test(document.getElementById('panel-pipeline').textContent)`)
	b.checkSize()
}

// TestManyEvents lets writes pass by while each view is looked at; the page keeps up
// to the last of them.
func TestManyEvents(t *testing.T) {
	b := startChromium(t, 1400, 1000)
	page := start(t, 3)
	b.open(page + "#pipeline")
	b.wait(`document.querySelectorAll('.flow .write').length > 0`)
	b.watchLongTasks()
	written := make(chan error, 1)
	go func() { written <- writeMany(t.Context(), strings.TrimSuffix(page, "/ui/"), *events) }()
	views := []string{"pipeline", "objects", "revisions", "scheduler", "controls"}
	for i, busy := 0, true; busy; i++ {
		b.evaluate(fmt.Sprintf(`location.hash = %q`, views[i%len(views)]))
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			busy = false
		case <-time.After(500 * time.Millisecond):
		}
	}
	b.evaluate(`location.hash = 'pipeline'`)
	last := b.evaluate(`fetch('/api/v1/namespaces/default/configmaps', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"metadata":{"name":"last"}}'}).then((r) => r.json()).then((o) => o.metadata.resourceVersion)`)
	b.wait(fmt.Sprintf(`[...document.querySelectorAll('.flow title')].some((e) => e.textContent.includes('%s:'))`, last))
	b.checkSize()
}

// writeMany makes so many revisions of a few ConfigMaps.
func writeMany(ctx context.Context, server string, n int) error {
	const writers = 4
	group, ctx := errgroup.WithContext(ctx)
	for w := range writers {
		group.Go(func() error {
			for i := range n / writers {
				path := fmt.Sprintf("%s/api/v1/namespaces/default/configmaps/counter-%d?fieldManager=test", server, w)
				body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"counter-%d"},"data":{"n":"%d"}}`, w, i)
				request, err := http.NewRequestWithContext(ctx, http.MethodPatch, path, strings.NewReader(body))
				if err != nil {
					return err
				}
				request.Header.Set("Content-Type", "application/apply-patch+yaml")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if response.StatusCode >= 300 {
					return fmt.Errorf("%s: %s", path, response.Status)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// watchLongTasks has the browser note how long the page is busy at a stretch.
func (b *chromium) watchLongTasks() {
	b.evaluate(`(() => { window.longest = 0; window.observer = new PerformanceObserver((list) => {
		for (const e of list.getEntries()) window.longest = Math.max(window.longest, e.duration);
	}); observer.observe({ type: 'longtask' }); })()`)
}

// checkSize holds the page to a bound, and tells how it did.
func (b *chromium) checkSize() {
	b.t.Helper()
	n := b.evaluate(`document.querySelectorAll('*').length`).(float64)
	b.t.Logf("%v elements; busy for %.0f ms at most; loaded in %.0f ms", n, b.evaluate(`window.longest`),
		b.evaluate(`performance.getEntriesByType('navigation')[0].loadEventEnd`))
	if n > 5000 {
		b.t.Errorf("%v elements", n)
	}
}

// press clicks the first button in the view with this text that can be pressed.
func (b *chromium) press(text string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll('[role=tabpanel]:not([hidden]) button')].find((e) => e.textContent === %q && !e.disabled)`, text)
	b.wait("!!" + find)
	b.evaluate(find + ".click()")
}
