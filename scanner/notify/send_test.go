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

	"github.com/lockscope/lockscope/scanner"
)

// roundTrip replaces the network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func withTransport(f roundTrip) Option { return func(c *config) { c.transport = f } }

func answer(status int) (*http.Response, error) {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(""))}, nil
}

func TestRetries(t *testing.T) {
	refused := errors.New("connection refused")
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
		"no redirect":            {[]any{304, 200}, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			w := newWebhook(t, "http://hook", withTransport(func(*http.Request) (*http.Response, error) {
				next := test.answers[attempts]
				attempts++
				if err, ok := next.(error); ok {
					return nil, err
				}
				return answer(next.(int))
			}))
			began := time.Now()
			err := w.Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a")))
			if (err == nil) != test.taken || attempts != test.attempts {
				t.Errorf("%s: %d attempts and %v, want %d", name, attempts, err, test.attempts)
			}
			if sent, ok := errors.AsType[*SendError](err); err != nil && (!ok || sent.Attempts != attempts) {
				t.Errorf("%s: %#v, want a SendError with %d attempts", name, err, attempts)
			}
			if last, ok := test.answers[attempts-1].(error); ok && !errors.Is(err, last) {
				t.Errorf("%s: %v, want %v", name, err, last)
			}
			longest := time.Duration(0)
			for i, pause := 1, firstPause; i < attempts; i, pause = i+1, pause*pauseFactor {
				longest += pause
			}
			if waited := time.Since(began); waited > longest || waited < longest/2 {
				t.Errorf("%s: paused %v in all, want between a half and all of %v", name, waited, longest)
			}
		})
	}
}

// TestTimeoutBoundsEachAttempt: the endpoint never answers.
func TestTimeoutBoundsEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}
		w := newWebhook(t, "http://hook", withTransport(hang), WithTimeout(time.Second), WithRetries(1))
		began := time.Now()
		err := w.Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a")))
		if !errors.Is(err, errNoAnswer) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the notifier's own timeout", err)
		}
		if took := time.Since(began); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("took %v, want two timeouts and a pause", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began = time.Now()
		err = w.Notify(ctx, report(finding(scanner.NoTTL, "lock:a")))
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 300*time.Millisecond {
			t.Errorf("%v after %v, want the context's error as soon as it ends", err, took)
		}
	})
}

// TestSlowBody: an endless answer must not delay Notify, on a real connection.
func TestSlowBody(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("no ", 1000)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	err := newWebhook(t, s.URL, WithTimeout(10*time.Second)).Notify(t.Context(),
		report(finding(scanner.NoTTL, "lock:a")))
	status, ok := errors.AsType[*StatusError](err)
	if !ok || status.Status != http.StatusBadRequest || len(status.Body) > maxShownBody {
		t.Errorf("%v, want a short StatusError", err)
	}
}

func TestRedirects(t *testing.T) {
	other := newTarget(t)
	mux := http.NewServeMux()
	taken := newTarget(t)
	mux.Handle("/moved", http.RedirectHandler("/hook", http.StatusPermanentRedirect))
	mux.Handle("/see", http.RedirectHandler("/hook", http.StatusSeeOther))
	mux.Handle("/found", http.RedirectHandler("/hook", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler(other.URL+"/secret-path", http.StatusTemporaryRedirect))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusTemporaryRedirect))
	mux.Handle("/hook", taken)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	r := report(finding(scanner.NoTTL, "lock:a"))
	for _, path := range []string{"/see", "/found", "/away", "/loop"} {
		err := newWebhook(t, s.URL+path, WithBearerToken("bearer-secret")).Notify(t.Context(), r)
		if sent, ok := errors.AsType[*SendError](err); !ok || !errors.Is(err, ErrRedirect) || sent.Attempts != 1 {
			t.Errorf("%s: %v, want ErrRedirect at once", path, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: shows more of the target than its host: %v", path, err)
		}
	}
	if len(other.got())+len(taken.got()) != 0 {
		t.Errorf("redirects were followed: %v %v", other.got(), taken.got())
	}
	must(t, newWebhook(t, s.URL+"/moved", WithBearerToken("bearer-secret")).Notify(t.Context(), r))
	if got := taken.got(); len(got) != 1 || len(got[0].body) == 0 ||
		got[0].header.Get("Authorization") != "Bearer bearer-secret" {
		t.Errorf("a redirect within the host: %v", got)
	}
}

func TestProxyOnlyWhenAsked(t *testing.T) {
	proxy := newTarget(t)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	w := newWebhook(t, "http://hook.invalid/", WithRetries(0))
	if err := w.Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a"))); err == nil || len(proxy.got()) != 0 {
		t.Errorf("%v; the proxy of the environment got %d requests", err, len(proxy.got()))
	}
	u, err := url.Parse(proxy.URL)
	must(t, err)
	w = newWebhook(t, "http://hook.invalid/", WithProxy(http.ProxyURL(u)))
	must(t, w.Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a"))))
	if len(proxy.got()) != 1 {
		t.Errorf("the proxy given got %d requests, want 1", len(proxy.got()))
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	r := report(finding(scanner.NoTTL, "lock:a"))
	must(t, newWebhook(t, s.URL, WithTLSConfig(&tls.Config{RootCAs: roots})).Notify(t.Context(), r))
	if err := newWebhook(t, s.URL, WithRetries(0)).Notify(t.Context(), r); err == nil {
		t.Error("a certificate of an unknown authority was accepted")
	}
}

// TestClusterOfAlertmanagers has one member that is down, one that refuses and one that accepts.
func TestClusterOfAlertmanagers(t *testing.T) {
	const down = "http://127.0.0.1:1"
	refuses, takes := newTarget(t, 400), newTarget(t)
	r := report(finding(scanner.NoTTL, "lock:a"))
	must(t, newAlertmanager(t, []string{down, refuses.URL, takes.URL}).Notify(t.Context(), r))
	if len(takes.got()) != 1 || len(refuses.got()) != 1 {
		t.Errorf("requests: %v and %v, want one each", takes.got(), refuses.got())
	}
	err := newAlertmanager(t, []string{down, refuses.URL}).Notify(t.Context(), r)
	if status, ok := errors.AsType[*StatusError](err); !ok || status.Status != 400 ||
		!strings.Contains(err.Error(), down) {
		t.Errorf("%v, want what both said", err)
	}
}
