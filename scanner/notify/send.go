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

	"github.com/lockscope/lockscope/scanner/internal/clock"
)

const (
	firstPause    = 200 * time.Millisecond
	pauseFactor   = 3
	maxPause      = 5 * time.Second
	maxRedirects  = 3
	maxAnswer     = 64 << 10 // read of an answer; the rest is dropped with the connection
	maxShownBody  = 300
	maxHeaderSize = 64 << 10
	userAgent     = "lockscope"
)

var errNoAnswer = errors.New("no answer within the timeout")

// sender posts JSON documents.
type sender struct {
	client  *http.Client
	timeout time.Duration
	retries int
	auth    func(*http.Request)
}

func newSender(c *config) *sender {
	transport := c.transport
	if transport == nil {
		transport = newTransport(c.timeout, c.tls, c.proxy)
	}
	headers := c.headers.Clone()
	return &sender{
		client:  &http.Client{Transport: transport, CheckRedirect: checkRedirect},
		timeout: c.timeout,
		retries: c.retries,
		auth: func(r *http.Request) {
			for name, values := range headers {
				r.Header[name] = values
			}
			switch {
			case c.basic:
				r.SetBasicAuth(c.username, c.password)
			case c.bearer != "":
				r.Header.Set("Authorization", "Bearer "+c.bearer)
			}
		},
	}
}

// newTransport keeps no connection: reports are a minute apart, and an idle connection would have to be closed.
func newTransport(timeout time.Duration, t *tls.Config, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
		TLSClientConfig:        t,
		TLSHandshakeTimeout:    timeout,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeaderSize,
	}
}

// checkRedirect keeps findings and credentials from other hosts. It also keeps a POST from becoming a GET, which
// would look like a success.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch status := next.Response.StatusCode; {
	case status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect:
		return fmt.Errorf("%w (status %d would drop the document)", ErrRedirect, status)
	case next.URL.Scheme != first.Scheme || next.URL.Host != first.Host:
		return fmt.Errorf("%w (it leads to %s://%s)", ErrRedirect, next.URL.Scheme, next.URL.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w (more than %d of them)", ErrRedirect, maxRedirects)
	}
	return nil
}

// post sends body until it is taken or refused, or the retries or ctx are spent. Its errors are *SendError.
func (s *sender) post(ctx context.Context, to *endpoint, body []byte) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, to, body)
		if err == nil {
			return nil
		}
		if attempt <= s.retries && retryable(err) && ctx.Err() == nil {
			// Notifiers of many processes that had the same failure must not retry all at once.
			if clock.Pause(ctx, pause/2+rand.N(pause/2)) {
				pause = min(pause*pauseFactor, maxPause)
				continue
			}
		}
		if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
			err = errors.Join(cause, err)
		}
		return &SendError{Endpoint: to.name, Attempts: attempt, Err: err}
	}
}

func (s *sender) attempt(ctx context.Context, to *endpoint, body []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("%w (%v)", errNoAnswer, s.timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("cannot build the request") // the error may quote the URL
	}
	s.auth(req)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	resp, err := s.client.Do(req)
	if err != nil {
		return withoutSecrets(err, to.redacted)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 == 2 {
		return nil // taken, even if the rest of the answer is lost
	}
	if err != nil && len(answer) == 0 {
		answer = []byte(err.Error())
	}
	return &StatusError{Status: resp.StatusCode, Body: shown(answer, to.redacted)}
}

// withoutSecrets drops the wrapper of the HTTP client's errors, which has the whole URL, and redacts an error that
// quotes a secret, as one about a malformed answer may.
func withoutSecrets(err error, redacted *strings.Replacer) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if text := redacted.Replace(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

func shown(answer []byte, redacted *strings.Replacer) string {
	text := redacted.Replace(strings.ToValidUTF8(string(answer), "?"))
	return clip(strings.TrimSpace(text), maxShownBody)
}

// statusOf returns the status that an endpoint answered, if it did.
func statusOf(err error) (status int, ok bool) {
	if answer, ok := errors.AsType[*StatusError](err); ok {
		return answer.Status, true
	}
	return 0, false
}

func retryable(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.retryable()
	}
	return !errors.Is(err, ErrRedirect)
}
