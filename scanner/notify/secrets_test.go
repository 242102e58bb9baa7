package notify

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSecretsStaySecret causes every kind of failure, at endpoints whose answers repeat the whole request.
func TestSecretsStaySecret(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusUnauthorized
		if strings.Contains(r.URL.Path, "broken") {
			status = http.StatusBadGateway
		}
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(status)
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s %s %v %s %s %s", user, password, r.Header, r.URL, r.RequestURI, body)
	}))
	t.Cleanup(echo.Close)
	raw := rawServer(t)
	host := strings.TrimPrefix(echo.URL, "http://")
	const body = `{"key": {{json .Secret}}}`
	for name, c := range map[string]Webhook{
		"URL credentials": {URL: "http://alice:hunter2-secret@" + host + "/SLACKPATH-secret/x?k=QUERYKEY-secret"},
		"broken":          {URL: echo.URL + "/broken/SLACKPATH-secret"},
		"basic auth":      {URL: echo.URL, Access: Access{Username: "alice", Password: "hunter2-secret"}},
		"bearer":          {URL: echo.URL, Access: Access{BearerToken: "T0KEN-secret"}},
		"body":            {URL: echo.URL, Template: body, Secret: "R0UTING-secret"},
		"not HTTP":        {URL: raw + "/SLACKPATH-secret", Access: Access{BearerToken: "T0KEN-secret"}},
		"no such host":    {URL: "http://alice:hunter2-secret@nowhere.invalid/SLACKPATH-secret"},
		"bad port":        {URL: "http://alice:hunter2-secret@h:port/SLACKPATH-secret"},
		"bad escape":      {URL: "http://h/%zzSLACKPATH-secret?QUERYKEY-secret"},
		"bad scheme":      {URL: "ftp://alice:hunter2-secret@h/SLACKPATH-secret"},
		"twice the auth":  {URL: "http://alice:hunter2-secret@h/", Access: Access{BearerToken: "T0KEN-secret"}},
		"bad token":       {URL: "http://h/", Access: Access{BearerToken: "T0KEN-secret\n"}},
		"bad template":    {URL: echo.URL, Template: `{"key": {{.Secret}}}`, Secret: "R0UTING-secret"},
	} {
		w, err := NewWebhook(c)
		if err == nil {
			err = w.Notify(t.Context(), reportOf(leaks(1)...))
		}
		_, also := NewAlertmanager(Alertmanager{URLs: []string{c.URL, "#"}, Access: c.Access})
		if text := fmt.Sprint(err, also); err == nil || strings.Contains(text, "-secret") ||
			strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("alice:hunter2-secret"))) {
			t.Errorf("%s: no error, or one that shows a secret: %v", name, errors.Join(err, also))
		}
	}
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
	must(t, newAlertmanager(t, Alertmanager{URLs: []string{url + "/prefix/"}}).Notify(t.Context(), reportOf(leaks(1)...)))
	got := s.got()[0]
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("alice:p@ss"))
	if got.path != "/prefix/api/v2/alerts" || got.header.Get("Authorization") != want {
		t.Errorf("posted to %s with %s", got.path, got.header.Get("Authorization"))
	}
}
