package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/lockscope/lockscope/scanner/internal/clock"
)

const (
	timeout    = 3 * time.Second // of an attempt: with all of them, Notify ends within the 10 s that a scanner gives it
	attempts   = 3
	firstPause = 200 * time.Millisecond
)

// ErrConfig reports an unusable configuration. It withholds URLs and other secrets.
var ErrConfig = errors.New("notify")

var errNoAnswer = fmt.Errorf("no answer within %v", timeout)

// Access is how a notifier reaches its receivers. A URL may contain a user and a password instead.
type Access struct {
	Username, Password string // for basic authentication
	BearerToken        string
	Transport          http.RoundTripper // for a proxy or certificates; nil: a transport without a proxy
}

// endpoint is the target of a post.
type endpoint struct {
	url    string // may hold secrets
	name   string // scheme and host: fit to be shown
	access Access
	client *http.Client
}

// newEndpoint keeps the text of the URL out of its error.
func newEndpoint(raw, path string, a Access) (*endpoint, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Fragment != "":
		return nil, fmt.Errorf("%w: invalid URL (withheld): use http[s]://host[:port]/path", ErrConfig)
	case a.BearerToken != "" && (u.User != nil || a.Username != ""), a.Username != "" && u.User != nil:
		return nil, fmt.Errorf("%w: credentials are given twice: use one of user, bearer token and URL", ErrConfig)
	case strings.ContainsFunc(a.BearerToken, unicode.IsControl):
		return nil, fmt.Errorf("%w: the bearer token contains a line break or another control character", ErrConfig)
	}
	if path != "" {
		u = u.JoinPath(path)
	}
	transport := a.Transport
	if transport == nil {
		transport = &http.Transport{DisableKeepAlives: true} // an idle connection would have to be closed
	}
	return &endpoint{u.String(), u.Scheme + "://" + u.Host, a, &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// post sends body until it is taken or refused, or the attempts or ctx are spent.
func (e *endpoint) post(ctx context.Context, body []byte) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		again, err := e.attempt(ctx, body)
		if err == nil {
			return nil
		}
		// Notifiers of many processes that had the same failure must not retry all at once.
		if !again || attempt == attempts || !clock.Pause(ctx, pause/2+rand.N(pause/2)) {
			return fmt.Errorf("notify: %s after %d attempts: %w", e.name, attempt, err)
		}
		pause *= 3
	}
}

func (e *endpoint) attempt(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errNoAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("cannot build the request") // the error may quote the URL
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "lockscope")
	switch a := e.access; {
	case a.Username != "":
		req.SetBasicAuth(a.Username, a.Password)
	case a.BearerToken != "":
		req.Header.Set("Authorization", "Bearer "+a.BearerToken)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return true, withoutSecrets(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	return resp.StatusCode >= 500, fmt.Errorf("answered %d", resp.StatusCode)
}

// withoutSecrets drops the URL from an error of the client, and an error that quotes what the server sent.
func withoutSecrets(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	_, network := errors.AsType[*net.OpError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	for _, known := range []error{errNoAnswer, context.Canceled, context.DeadlineExceeded, io.EOF} {
		network = network || errors.Is(err, known)
	}
	if network || certificate {
		return err
	}
	return errors.New("no valid HTTP answer")
}
