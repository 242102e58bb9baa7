package fleet

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"syscall"
)

// Errors of an answer.
var (
	ErrTimeout  = fmt.Errorf("no answer within %v", Timeout)
	ErrTooLarge = fmt.Errorf("the answer is larger than %d MiB", MaxBody>>20)
	ErrNoPage   = errors.New("the answer is not from a lockscope page")
)

// statusError reports an answer without the document.
type statusError int

func (e statusError) Error() string {
	if e/100 == 3 {
		return fmt.Sprintf("status %d: redirects are not followed", int(e))
	}
	return fmt.Sprintf("status %d", int(e))
}

// newClient makes connections that the policy allows and keeps none. It has no proxy and no cookies, and follows no
// redirect: an allowed page must not send it elsewhere.
func newClient(p Policy) *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error { return p.reaches(host, address) }}
		return d.DialContext(ctx, network, addr)
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ask reads one page. Its errors contain nothing of the answer.
func (r *Reader) ask(ctx context.Context, page string) (*answer, error) {
	u, err := r.policy.address(page)
	if err != nil {
		return nil, err
	}
	u.RawQuery = "format=json"
	text, err := get(ctx, r.client, u)
	if err != nil {
		return nil, err
	}
	return decode(text)
}

// get reads what is at an address that the policy allows. Its errors contain nothing of the answer.
func get(ctx context.Context, client *http.Client, u *url.URL) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Timeout, ErrTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, ErrNoAddress
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "lockscope")
	resp, err := client.Do(req)
	if err != nil {
		return nil, reason(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, reason(ctx, err)
	case len(text) > MaxBody:
		return nil, ErrTooLarge
	}
	return text, nil
}

func decode(text []byte) (*answer, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || a.Instance == "" || a.Waiting == nil {
		return nil, ErrNoPage
	}
	a.Instance = clip(a.Instance, maxName)
	return &a, nil
}

// reason says why a request failed, without the address, which is shown beside it.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	if errors.Is(err, ErrLocal) {
		return ErrLocal
	}
	_, connection := errors.AsType[*net.OpError](err)
	_, name := errors.AsType[*net.DNSError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	if connection || name || certificate {
		return err
	}
	return ErrNoPage // the texts of other errors quote the answer
}

// ErrBadPolicy reports a text that is not a policy. It withholds the text, because a URL in it may contain a
// password.
var ErrBadPolicy = errors.New("use off, listed, or host patterns such as *.orders.svc")

// Errors of a page that is not asked.
var (
	ErrNotAllowed = errors.New("--pages does not allow its host")
	ErrNoAddress  = errors.New(
		"not a page address: use http or https without credentials, and a path that ends in /debug/locks")
	ErrLocal = errors.New("its host resolves to this machine or to a link-local address")
)

// Policy selects the pages that may be read. The zero value allows none.
type Policy struct {
	listed bool
	hosts  []string
}

// ParsePolicy parses off, listed, or comma-separated host patterns: * matches any text, ? any character.
func ParsePolicy(text string) (Policy, error) {
	switch text {
	case "", "off":
		return Policy{}, nil
	case "listed":
		return Policy{listed: true}, nil
	}
	var p Policy
	for host := range strings.SplitSeq(text, ",") {
		host = strings.ToLower(strings.TrimSpace(host))
		if _, err := path.Match(host, "x"); err != nil || host == "" || strings.ContainsAny(host, "/@") {
			return Policy{}, ErrBadPolicy
		}
		p.hosts = append(p.hosts, host)
	}
	return p, nil
}

// Off reports whether no page may be read.
func (p Policy) Off() bool { return !p.listed && len(p.hosts) == 0 }

// address returns the URL to read for a page, or an error if it may not be read.
func (p Policy) address(page string) (*url.URL, error) {
	u, err := url.Parse(page)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil,
		!strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/debug/locks"):
		return nil, ErrNoAddress
	case !p.allows(u.Hostname()):
		return nil, ErrNotAllowed
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}, nil
}

func (p Policy) allows(host string) bool {
	host = strings.ToLower(host)
	for _, pattern := range p.hosts {
		if ok, err := path.Match(pattern, host); ok && err == nil {
			return true
		}
	}
	return p.listed
}

// reaches reports whether a host may resolve to this address. A name that somebody pointed at this machine may not:
// only the machine's own names may, and only by a pattern.
func (p Policy) reaches(host, address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrLocal
	}
	ip := to.Addr().Unmap()
	switch {
	case ip.IsLoopback():
		if !p.listed && isLoopback(host) {
			return nil
		}
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified():
	default:
		return nil
	}
	return ErrLocal
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
