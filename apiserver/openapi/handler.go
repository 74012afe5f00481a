package openapi

import "net/http"

// Handler serves the documents.
type Handler struct{}

// New returns a Handler.
func New() *Handler { return &Handler{} }

// V2 serves /openapi/v2.
func (h *Handler) V2(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// V3 serves /openapi/v3 and what is below.
func (h *Handler) V3(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
