package fleet

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strings"
)

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
