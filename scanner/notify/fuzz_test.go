package notify

import (
	"strings"
	"testing"
)

// FuzzEndpoint: the URL of a webhook is often a secret as a whole, and servers repeat it in their answers.
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
		e, err := newEndpoint(before+secret+after, "", &config{})
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Fatalf("the secret is in %v", err)
			}
			return
		}
		if e.name == "" || e.redacted.Replace(e.url) == e.url && !strings.Contains(e.name, secret) &&
			strings.Contains(e.url, "/"+secret) {
			t.Fatalf("%q is not redacted", e.url)
		}
	})
}
