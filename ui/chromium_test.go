package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// chromium is a headless browser with one page, driven by the DevTools protocol.
type chromium struct {
	t    *testing.T
	conn *websocket.Conn
	last int
	// complaints are what the page threw or was refused by its policy, but not the
	// requests that the server refused.
	complaints []string
}

// startChromium skips the test where there is no browser.
func startChromium(t *testing.T, width, height int) *chromium {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	// Not t.TempDir, which fails the test if a process that is ending still writes there.
	profile, err := os.MkdirTemp("", "kubesim-chromium")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	command := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-first-run", "--hide-scrollbars", "--lang=en", "--remote-debugging-port=0", "--user-data-dir="+profile, fmt.Sprintf("--window-size=%d,%d", width, height), "about:blank")
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	b := &chromium{t: t}
	t.Cleanup(func() {
		if b.conn != nil { // asked, it ends with all its processes
			_ = b.conn.WriteJSON(map[string]any{"id": b.last + 1, "method": "Browser.close"})
		}
		time.AfterFunc(10*time.Second, cancel)
		_ = command.Wait()
		_ = os.RemoveAll(profile)
	})
	lines := bufio.NewScanner(stderr)
	address := ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "DevTools listening on ")
	}
	if address == "" {
		t.Fatal("chromium ended before it listened")
	}
	go func() {
		for lines.Scan() { // else it blocks
		}
	}()
	b.dial(address)
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	_ = b.conn.Close()
	b.dial(address[:strings.Index(address, "/devtools/")] + "/devtools/page/" + target.TargetID)
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	return b
}

func (b *chromium) dial(address string) {
	b.t.Helper()
	conn, response, err := websocket.DefaultDialer.DialContext(b.t.Context(), address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = response.Body.Close()
	b.conn = conn
}

// call waits for the answer, and keeps the complaints that come before it.
func (b *chromium) call(method string, params, result any) {
	b.t.Helper()
	b.last++
	if err := b.conn.WriteJSON(map[string]any{"id": b.last, "method": method, "params": params}); err != nil {
		b.t.Fatal(err)
	}
	for {
		var message struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := b.conn.ReadJSON(&message); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case message.Method == "Runtime.exceptionThrown", message.Method == "Log.entryAdded" && !bytes.Contains(message.Params, []byte(`"source":"network"`)):
			b.complaints = append(b.complaints, string(message.Params))
		case message.ID != b.last:
		case message.Error != nil:
			b.t.Fatalf("%s: %s", method, message.Error.Message)
		default:
			if result != nil {
				if err := json.Unmarshal(message.Result, result); err != nil {
					b.t.Fatal(err)
				}
			}
			return
		}
	}
}

func (b *chromium) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
}

// evaluate returns the value of an expression, after its promise.
func (b *chromium) evaluate(expression string) any {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return answer.Result.Value
}

// wait waits until an expression is true.
func (b *chromium) wait(expression string) {
	b.t.Helper()
	b.waitFor(time.Minute, expression)
}

func (b *chromium) waitFor(limit time.Duration, expression string) {
	b.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if b.evaluate(expression) == true {
			return
		}
	}
	b.t.Fatalf("never true: %s\n%v\n%s", expression, b.evaluate("document.body.innerText"), b.complaints)
}

// screenshot saves what is seen if the directory is given.
func (b *chromium) screenshot(directory, name string) {
	b.t.Helper()
	if directory == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, name+".png"), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
