package notify

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// TestSecretsStaySecret causes every kind of failure, at endpoints whose answers repeat the whole request.
func TestSecretsStaySecret(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusUnauthorized
		if strings.Contains(r.URL.Path, "broken") {
			status = http.StatusBadGateway
		}
		w.WriteHeader(status)
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s %s %v %s %s", user, password, r.Header, r.URL, r.RequestURI)
	}))
	t.Cleanup(echo.Close)
	raw := rawServer(t)
	credentials := base64.StdEncoding.EncodeToString([]byte("alice:hunter2-secret"))
	secrets := []string{"hunter2", "T0KEN", "HEADER", "SLACKPATH", "QUERYKEY", "hk1", credentials, "R0UTING"}

	host := strings.TrimPrefix(echo.URL, "http://")
	for name, send := range map[string]func() error{
		"URL credentials": func() error {
			return webhookError(t, "http://alice:hunter2-secret@"+host+"/SLACKPATH/x?k=QUERYKEY-secret")
		},
		"broken":     func() error { return webhookError(t, echo.URL+"/broken/SLACKPATH-secret") },
		"basic auth": func() error { return webhookError(t, echo.URL, WithBasicAuth("alice", "hunter2-secret")) },
		"bearer":     func() error { return webhookError(t, echo.URL, WithBearerToken("T0KEN-secret")) },
		"header":     func() error { return webhookError(t, echo.URL, WithHeader("X-Key", "HEADER-secret")) },
		"not HTTP": func() error {
			return webhookError(t, raw+"/SLACKPATH-secret",
				WithBearerToken("T0KEN-secret"))
		},
		"no such host": func() error { return webhookError(t, "http://alice:hunter2-secret@nowhere.invalid/hk1") },
		"bad port":     func() error { return constructionError("http://alice:hunter2-secret@h:port/SLACKPATH") },
		"bad escape":   func() error { return constructionError("http://h/%zzSLACKPATH?QUERYKEY") },
		"bad scheme":   func() error { return constructionError("ftp://alice:hunter2-secret@h/SLACKPATH") },
		"twice the auth": func() error {
			return constructionError("http://alice:hunter2-secret@h/",
				WithBearerToken("T0KEN"))
		},
		"bad routing key": func() error {
			return constructionError("http://h/", WithFormat(PagerDuty), WithRoutingKey("R0UTING\n"))
		},
		"bad token":  func() error { return constructionError("http://h/", WithBearerToken("T0KEN\n")) },
		"bad header": func() error { return constructionError("http://h/", WithHeader("X-Key", "HEADER\r\nX: y")) },
	} {
		err := send()
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, secret := range secrets {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows %s: %v", name, secret, err)
			}
		}
	}
}

func webhookError(t *testing.T, url string, opts ...Option) error {
	opts = append(opts, WithRetries(0), WithTimeout(20*time.Second))
	return newWebhook(t, url, opts...).Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a")))
}

func constructionError(url string, opts ...Option) error {
	_, err := NewWebhook(url, opts...)
	_, also := NewAlertmanager([]string{url}, opts...)
	return errors.Join(err, also)
}

// rawServer answers with the first bytes of the request.
func rawServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, r.Header.Get("Authorization")+r.URL.Path+"\r\n\r\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestURLCredentialsAreSent(t *testing.T) {
	s := newTarget(t)
	url := strings.Replace(s.URL, "://", "://alice:p%40ss@", 1)
	must(t, newAlertmanager(t, []string{url + "/prefix/"}).Notify(t.Context(),
		report(finding(scanner.NoTTL, "lock:a"))))
	got := s.got()[0]
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("alice:p@ss"))
	if got.path != "/prefix/api/v2/alerts" || got.header.Get("Authorization") != want {
		t.Errorf("posted to %s with %s", got.path, got.header.Get("Authorization"))
	}
}

func TestLoggerHearsOfAPartialFailure(t *testing.T) {
	var log bytes.Buffer
	refuses, takes := newTarget(t, 403), newTarget(t)
	a := newAlertmanager(t, []string{refuses.URL, takes.URL}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		WithBearerToken("T0KEN-secret"))
	refuses.answer = "no T0KEN-secret here"
	must(t, a.Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a"))))
	if text := log.String(); !strings.Contains(text, refuses.URL) || !strings.Contains(text, "403") ||
		strings.Contains(text, "T0KEN") {
		t.Errorf("logged %q", text)
	}
}
