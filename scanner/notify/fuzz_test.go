package notify

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// FuzzEndpoint: the URL of a webhook is often a secret as a whole, and errors of the network quote it.
func FuzzEndpoint(f *testing.F) {
	f.Add("https://hooks.example.com/services/T0/", "/x")
	f.Add("http://user:", "@h:9093")
	f.Add("https://h/?key=", "#a")
	f.Add("http://h/%zz", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Tr0ub4dor"
		if strings.Contains(before+after, secret) {
			return
		}
		e, err := newEndpoint(before+secret+after, "", Access{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("malformed answer to " + r.URL.String())
		})})
		if err == nil && !strings.Contains(e.name, secret) {
			_, err = e.attempt(t.Context(), nil)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("the secret is in %v", err)
		}
	})
}
