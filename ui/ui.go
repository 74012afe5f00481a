package ui

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/kubesim/kubesim/trace"
)

// Path is where the page is served.
const Path = "/ui/"

//go:embed page
var embedded embed.FS

// policy lets the page load and ask nothing but this server. Trusted types make
// the browser refuse strings as markup, which holds the code to textContent.
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// Handler serves the page, with the steps that are found in the spans.
func Handler(spans func() []trace.Span) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.StripPrefix(Path, http.FileServerFS(page())))
	mux.Handle("GET "+Path+"steps", stepsHandler(spans))
	return secure(mux)
}

// page is the folder of what the browser loads.
func page() fs.FS {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // "page" is a valid path, so it can't fail
	}
	return files
}

func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache") // another version may be started on the same port
		next.ServeHTTP(w, r)
	})
}
