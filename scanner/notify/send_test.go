package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// roundTrip replaces the network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAttempts: what may pass is tried again, and nothing else.
func TestAttempts(t *testing.T) {
	refused := io.EOF
	for name, test := range map[string]struct {
		answers  []any // a status or an error for each attempt
		attempts int
		taken    bool
	}{
		"taken at once":          {[]any{200}, 1, true},
		"accepted":               {[]any{202}, 1, true},
		"5xx passes":             {[]any{503, 500, 200}, 3, true},
		"network passes":         {[]any{refused, 200}, 2, true},
		"5xx stays":              {[]any{500, 500, 500, 200}, 3, false},
		"network stays":          {[]any{refused, refused, refused, 200}, 3, false},
		"4xx is final":           {[]any{400, 200}, 1, false},
		"too many is final":      {[]any{429, 200}, 1, false},
		"5xx, then 4xx is final": {[]any{502, 401, 200}, 2, false},
		"no redirect":            {[]any{307, 200}, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			made := 0
			w := newWebhook(t, Webhook{URL: "http://hook", Access: Access{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				next := test.answers[made]
				made++
				if err, ok := next.(error); ok {
					return nil, err
				}
				return &http.Response{StatusCode: next.(int), Header: http.Header{"Location": {"http://elsewhere/"}},
					Body: io.NopCloser(strings.NewReader(""))}, nil
			})}})
			began := time.Now()
			err := w.Notify(t.Context(), reportOf(leaks(1)...))
			if (err == nil) != test.taken || made != test.attempts {
				t.Errorf("%s: %d attempts and %v, want %d", name, made, err, test.attempts)
			}
			longest := time.Duration(0)
			for i, pause := 1, firstPause; i < made; i, pause = i+1, pause*3 {
				longest += pause
			}
			if waited := time.Since(began); waited > longest || waited < longest/2 {
				t.Errorf("%s: paused %v in all, want between a half and all of %v", name, waited, longest)
			}
		})
	}
}

// TestTimeoutBoundsEachAttempt: the endpoint never answers, and Notify ends within the 10 s that a scanner gives it.
func TestTimeoutBoundsEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})
		w := newWebhook(t, Webhook{URL: "http://hook", Access: Access{Transport: hang}})
		began := time.Now()
		err := w.Notify(t.Context(), reportOf(leaks(1)...))
		if took := time.Since(began); !errors.Is(err, errNoAnswer) || took < attempts*timeout || took > 10*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began = time.Now()
		err = w.Notify(ctx, reportOf(leaks(1)...))
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 300*time.Millisecond {
			t.Errorf("%v after %v, want the context's error as soon as it ends", err, took)
		}
	})
}

// TestEndpointIsDown: the error says so, and names only the host.
func TestEndpointIsDown(t *testing.T) {
	err := newWebhook(t, Webhook{URL: "http://127.0.0.1:1/s3cr3t"}).Notify(t.Context(), reportOf(leaks(1)...))
	if err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1 after 3 attempts: ") ||
		!strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}

// TestSlowBody: an endless answer must not delay Notify, on a real connection.
func TestSlowBody(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		ended := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			w.WriteHeader(status)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("no ", 1000)); err != nil {
					return
				}
			}
		}))
		t.Cleanup(s.Close)
		err := newWebhook(t, Webhook{URL: s.URL}).Notify(t.Context(), reportOf(leaks(1)...))
		if (err == nil) != (status == http.StatusOK) || err != nil && !strings.Contains(err.Error(), "answered 400") {
			t.Errorf("%d: %v", status, err)
		}
		<-ended
	}
}

// TestRedirects are not followed: neither findings nor credentials go elsewhere.
func TestRedirects(t *testing.T) {
	other := newTarget(t)
	s := httptest.NewServer(http.RedirectHandler(other.URL+"/secret-path", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	err := newWebhook(t, Webhook{URL: s.URL, Access: Access{BearerToken: "bearer-secret"}}).Notify(t.Context(),
		reportOf(leaks(1)...))
	if err == nil || !strings.Contains(err.Error(), "answered 307") || strings.Contains(err.Error(), "secret") ||
		len(other.got()) != 0 {
		t.Errorf("%v, and %d requests elsewhere", err, len(other.got()))
	}
}

func TestProxyOnlyWhenAsked(t *testing.T) {
	proxy := newTarget(t)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	w := newWebhook(t, Webhook{URL: "http://hook.invalid/"})
	if err := w.Notify(t.Context(), reportOf(leaks(1)...)); err == nil || len(proxy.got()) != 0 {
		t.Errorf("%v; the proxy of the environment got %d requests", err, len(proxy.got()))
	}
	u, err := url.Parse(proxy.URL)
	must(t, err)
	through := &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}
	w = newWebhook(t, Webhook{URL: "http://hook.invalid/", Access: Access{Transport: through}})
	must(t, w.Notify(t.Context(), reportOf(leaks(1)...)))
	if len(proxy.got()) != 1 {
		t.Errorf("the proxy given got %d requests, want 1", len(proxy.got()))
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	trusting := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	must(t, newWebhook(t, Webhook{URL: s.URL, Access: Access{Transport: trusting}}).Notify(t.Context(), reportOf(leaks(1)...)))
	err := newWebhook(t, Webhook{URL: s.URL}).Notify(t.Context(), reportOf(leaks(1)...))
	if err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a certificate of an unknown authority: %v", err)
	}
}
