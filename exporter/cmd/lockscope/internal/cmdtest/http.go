package cmdtest

import (
	"io"
	"net/http"
	"regexp"
	"testing"
)

// URLLogged finds in its log where a serve is served.
var URLLogged = regexp.MustCompile(`http://[^"\]]+`)

// Get asks a page or the metrics of a serve.
func Get(t testing.TB, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	Must(t, err)
	req.Header.Set("Accept", "application/json, text/plain;q=0.5")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	Must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	Must(t, err)
	return resp.StatusCode, string(text)
}
