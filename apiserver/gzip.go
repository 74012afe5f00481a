package apiserver

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// compressAbove is the size from which an answer is compressed for clients that
// take it so, as in kube-apiserver: below it costs more than it saves.
const compressAbove = 128 << 10

// compressors are *gzip.Writer that are not at work. The lowest level does most
// of what any could, at a fraction of the time.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a good one
	}
	return w
}}

// compress makes long answers short. Watches are left alone: how long they get
// nobody knows, and each event must arrive at once.
func compress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !takesGzip(r) {
			next.ServeHTTP(w, r)
			return
		}
		c := &compressor{ResponseWriter: w}
		defer c.close()
		next.ServeHTTP(c, r)
	})
}

func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if name, _, _ := strings.Cut(part, ";"); strings.TrimSpace(name) == "gzip" {
			return true
		}
	}
	return false
}

// compressor is a ResponseWriter that decides by the Content-Length.
type compressor struct {
	http.ResponseWriter
	writer *gzip.Writer // nil for an answer that goes as it is
}

func (c *compressor) WriteHeader(code int) {
	h := c.Header()
	if size, err := strconv.Atoi(h.Get("Content-Length")); err == nil && size >= compressAbove && h.Get("Content-Encoding") == "" {
		h.Del("Content-Length")
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
		c.writer = compressors.Get().(*gzip.Writer)
		c.writer.Reset(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(code)
}

func (c *compressor) Write(b []byte) (int, error) {
	if c.writer == nil {
		return c.ResponseWriter.Write(b)
	}
	return c.writer.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressor) close() {
	if c.writer != nil {
		_ = c.writer.Close() // the client is gone if it fails
		c.writer.Reset(nil)
		compressors.Put(c.writer)
	}
}
