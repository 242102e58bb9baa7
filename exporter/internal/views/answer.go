package views

import (
	"encoding/json"
	"net/http"

	"github.com/lockscope/lockscope/exporter/internal/page"
)

// secure sets the headers of an address that answers with data.
func secure(h http.Header) {
	page.SecureData(h)
	h.Set("Cache-Control", "no-store")
}

// readOnly answers requests other than GET and HEAD, and reports whether the request is one of these.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	fail(w, http.StatusMethodNotAllowed, "this address is read-only: use GET or HEAD")
	return false
}

// fail answers with an error that programs can read.
func fail(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"cannot encode the answer as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // an error means that the client has left
}
