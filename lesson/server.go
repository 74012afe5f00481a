package lesson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Path is where Server is served, for the page.
const Path = "/debug/kubesim/lessons"

const (
	maxSessions = 4                // lessons under way at once
	idleLimit   = 15 * time.Minute // after which one ends that nobody goes on with
)

// Server gives lessons by HTTP:
//
//	GET  .../lessons?lang=zh         all of them
//	POST .../lessons/N/start         begin N on a new cluster; answers with its address
//	POST .../lessons/N/steps/K/run   run the commands of step K; answers with a Result
//	POST .../lessons/N/end           end its cluster
//
// Only what a lesson's text says is run, so a request names a step and brings no
// commands of its own.
type Server struct {
	lessons func() ([]Lesson, error) // in English; the commands are the same in each language
	mux     *http.ServeMux

	mu       sync.Mutex
	closed   bool
	sessions map[int]*lesson // by number
}

// lesson is one that is under way.
type lesson struct {
	*Session
	mu   sync.Mutex // held while a step runs
	idle *time.Timer
}

// Result is what became of a step.
type Result struct {
	Output  string   `json:"output"`
	Answer  string   `json:"answer,omitempty"`  // the right choice
	Missing []string `json:"missing,omitempty"` // expected texts that were not printed
}

// NewServer serves the lessons that are built in.
func NewServer() *Server {
	s := &Server{
		lessons: sync.OnceValues(func() ([]Lesson, error) { return All(Languages[0]) }),
		mux:     http.NewServeMux(), sessions: map[int]*lesson{},
	}
	s.mux.HandleFunc("GET "+Path, s.list)
	s.mux.HandleFunc("POST "+Path+"/{number}/start", s.start)
	s.mux.HandleFunc("POST "+Path+"/{number}/steps/{step}/run", s.run)
	s.mux.HandleFunc("POST "+Path+"/{number}/end", s.end)
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends all lessons, and begins no more.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	under := s.sessions
	s.sessions = map[int]*lesson{}
	s.mu.Unlock()
	var errs []error
	for _, l := range under {
		errs = append(errs, l.close())
	}
	return errors.Join(errs...)
}

func (l *lesson) close() error {
	l.idle.Stop()
	return l.Session.Close()
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	language := r.URL.Query().Get("lang")
	if !slices.Contains(Languages, language) {
		language = Languages[0]
	}
	all, err := All(language)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, map[string]any{"items": all})
}

func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	l := s.named(w, r)
	if l == nil {
		return
	}
	// It outlives the request, and is ended by end, Close or its idleness.
	session, err := StartSession(context.WithoutCancel(r.Context()), l.Start)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	before, err := s.keep(l.Number, session)
	if err != nil {
		http.Error(w, errors.Join(err, session.Close()).Error(), http.StatusServiceUnavailable)
		return
	}
	if before != nil {
		_ = before.close() // it is over either way
	}
	reply(w, map[string]string{"url": session.URL()})
}

// keep takes a session in the place of the one before of the same lesson.
func (s *Server) keep(number int, session *Session) (before *lesson, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.sessions[number]
	switch {
	case s.closed:
		return nil, errors.New("the server is ending")
	case before == nil && len(s.sessions) >= maxSessions:
		return nil, fmt.Errorf("%d lessons are under way: end one first", maxSessions)
	}
	l := &lesson{Session: session}
	l.idle = time.AfterFunc(idleLimit, func() { _ = s.drop(number, l) })
	s.sessions[number] = l
	return before, nil
}

// drop ends a lesson if it is still the one under way.
func (s *Server) drop(number int, l *lesson) error {
	s.mu.Lock()
	current := s.sessions[number] == l
	if current {
		delete(s.sessions, number)
	}
	s.mu.Unlock()
	if !current {
		return nil
	}
	return l.close()
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	text := s.named(w, r)
	if text == nil {
		return
	}
	k, err := strconv.Atoi(r.PathValue("step"))
	if err != nil || k < 1 || k > len(text.Steps) || text.Steps[k-1].Script == "" {
		http.Error(w, fmt.Sprintf("step %q: lesson %d has no commands there", r.PathValue("step"), text.Number), http.StatusNotFound)
		return
	}
	l := s.underway(w, text.Number)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle.Reset(idleLimit)
	step := &text.Steps[k-1]
	output, err := l.Run(r.Context(), step.Script, io.Discard)
	if err != nil {
		http.Error(w, err.Error()+"\n"+output, http.StatusInternalServerError)
		return
	}
	reply(w, Result{Output: output, Answer: step.Answer, Missing: step.Missing(output)})
}

func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	text := s.named(w, r)
	if text == nil {
		return
	}
	l := s.underway(w, text.Number)
	if l == nil {
		return
	}
	if err := s.drop(text.Number, l); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, map[string]string{})
}

// named is the lesson of the path; nil, and an answer, if there is none.
func (s *Server) named(w http.ResponseWriter, r *http.Request) *Lesson {
	all, err := s.lessons()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return nil
	}
	number, err := strconv.Atoi(r.PathValue("number"))
	i := slices.IndexFunc(all, func(l Lesson) bool { return l.Number == number })
	if err != nil || i < 0 {
		http.Error(w, fmt.Sprintf("there is no lesson %q", r.PathValue("number")), http.StatusNotFound)
		return nil
	}
	return &all[i]
}

// underway is a lesson's session; nil, and an answer, if it was not started.
func (s *Server) underway(w http.ResponseWriter, number int) *lesson {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sessions[number]
	if l == nil {
		http.Error(w, fmt.Sprintf("lesson %d is not under way: start it", number), http.StatusConflict)
	}
	return l
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone if it fails
}
