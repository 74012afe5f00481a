package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/fakelet/runtime"
)

// logOptions are those of a PodLogOptions that came as a query.
type logOptions struct {
	follow, previous, timestamps bool
	tail                         int // -1 for all
	limit                        int // bytes, -1 for all
	since                        time.Time
}

func (s *Server) logOptions(query url.Values) (logOptions, error) {
	o := logOptions{
		follow: isTrue(query, "follow"), previous: isTrue(query, "previous"), timestamps: isTrue(query, "timestamps"),
		tail: -1, limit: -1,
	}
	for name, target := range map[string]*int{"tailLines": &o.tail, "limitBytes": &o.limit} {
		if text := query.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return o, fmt.Errorf("%s: bad number %q", name, text)
			}
			*target = n
		}
	}
	if text := query.Get("sinceSeconds"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return o, fmt.Errorf("sinceSeconds: bad number %q", text)
		}
		o.since = s.clock.Now().Add(-time.Duration(n) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return o, fmt.Errorf("sinceTime: %w", err)
		}
		o.since = at
	}
	return o, nil
}

func isTrue(query url.Values, name string) bool {
	value := query.Get(name)
	return value == "true" || value == "1"
}

func (s *Server) logs(w http.ResponseWriter, r *http.Request, pod *corev1.Pod) {
	o, err := s.logOptions(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	log, err := s.nodes.Log(r.Context(), pod, r.PathValue("container"), o.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	out := &logWriter{w: w, options: o}
	lines := log.Lines()
	if o.tail >= 0 && len(lines) > o.tail {
		lines = lines[len(lines)-o.tail:]
	}
	from := log.Position(0)
	if n := len(lines); o.follow && n > 0 && lines[n-1].Partial {
		lines, from = lines[:n-1], from-1
	}
	for _, line := range lines {
		if out.line(line) != nil {
			return
		}
	}
	if !o.follow || o.previous {
		return
	}
	controller := http.NewResponseController(w)
	if controller.Flush() != nil {
		return
	}
	_ = log.Follow(r.Context(), from, func(line runtime.Line) error {
		if err := out.line(line); err != nil {
			return err
		}
		return controller.Flush()
	})
}

// logWriter writes lines as the options want them.
type logWriter struct {
	w       http.ResponseWriter
	options logOptions
	written int
}

var errLimit = fmt.Errorf("limit reached")

func (l *logWriter) line(line runtime.Line) error {
	if line.At.Before(l.options.since) {
		return nil
	}
	text := line.Text
	if l.options.timestamps {
		text = append([]byte(line.At.UTC().Format("2006-01-02T15:04:05.000000000Z07:00")+" "), text...)
	}
	if !line.Partial {
		text = append(text[:len(text):len(text)], '\n')
	}
	if limit := l.options.limit; limit >= 0 && l.written+len(text) > limit {
		text = text[:limit-l.written]
	}
	n, err := l.w.Write(text)
	l.written += n
	if err == nil && l.options.limit >= 0 && l.written >= l.options.limit {
		return errLimit
	}
	return err
}
