package cmdtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lockscope/lockscope/scanner/report"
)

// Webhook serves an address until the test ends. posted receives the document of every request to it.
func Webhook(t testing.TB) (url string, posted <-chan report.Document) {
	t.Helper()
	documents := make(chan report.Document, 1000)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var d report.Document
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &d)
		documents <- d
	}))
	t.Cleanup(hook.Close)
	return hook.URL, documents
}
