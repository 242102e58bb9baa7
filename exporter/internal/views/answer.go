package views

import (
	"encoding/json"
	"net/http"
)

// secure sets the headers of every answer: a browser may be made to show data as a page.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
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
	body, _ := json.Marshal(map[string]string{"error": text})
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // an error means that the client has left
}
