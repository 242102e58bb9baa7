package fleet

import (
	"context"
	"encoding/json"
	"net/http"
)

// Handler serves documents as JSON, a new one for each request.
func Handler(document func(context.Context) Document) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "read-only: use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		body, err := json.Marshal(document(r.Context()))
		if err != nil {
			http.Error(w, "cannot encode the document as JSON", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(append(body, '\n')) // the client has gone: nobody to tell
	})
}
