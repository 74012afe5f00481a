package fault

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Path is where the handler is served. DELETE of a path below it ends that fault.
const Path = "/debug/kubesim/faults"

// List is what GET and DELETE answer.
type List struct {
	Items []Fault `json:"items"`
}

// maxBody bounds a Fault that is posted.
const maxBody = 16 << 10

// ServeHTTP lists faults by GET, adds one by POST, and clears one or all by DELETE.
func (i *Injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, Path), "/")
	switch {
	case r.Method == http.MethodGet && id == "":
		reply(w, http.StatusOK, List{Items: i.List()})
	case r.Method == http.MethodPost && id == "":
		i.post(w, r)
	case r.Method == http.MethodDelete:
		i.delete(w, id)
	default:
		http.Error(w, "GET and POST are served, and DELETE for all or, with its ID in the path, one", http.StatusMethodNotAllowed)
	}
}

func (i *Injector) post(w http.ResponseWriter, r *http.Request) {
	var f Fault
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	added, err := i.Add(f)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply(w, http.StatusCreated, added)
}

func (i *Injector) delete(w http.ResponseWriter, id string) {
	var ids []string
	if id != "" {
		ids = append(ids, id)
	}
	cleared := i.Clear(ids...)
	if id != "" && len(cleared) == 0 {
		http.Error(w, "no fault "+id, http.StatusNotFound)
		return
	}
	reply(w, http.StatusOK, List{Items: cleared})
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client is gone if it fails
}
