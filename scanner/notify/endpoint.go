package notify

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// alertsPath is where Alertmanager takes alerts since 0.16; version 1 of its API was removed.
const alertsPath = "/api/v2/alerts"

// endpoint is the target of a post.
type endpoint struct {
	url      string // may hold secrets
	name     string // scheme and host: fit to be shown
	redacted *strings.Replacer
}

// parseEndpoint keeps the text of the URL out of its error: it may contain a password, or be a secret as a whole.
func parseEndpoint(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil,
			errors.New("malformed: use http[s]://host[:port]/path (text withheld: it may contain a secret)")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("has no host")
	case u.Fragment != "":
		return nil, errors.New("has a fragment (#), which is never sent")
	}
	return u, nil
}

// newEndpoint parses a URL and appends path. Credentials in the URL become basic authentication.
func newEndpoint(raw, path string, c *config) (*endpoint, error) {
	u, err := parseEndpoint(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidURL, err)
	}
	if u.User != nil && (c.basic || c.bearer != "") {
		return nil, fmt.Errorf("%w: the URL and an option both give credentials: use one", ErrInvalidURL)
	}
	if path != "" {
		u = u.JoinPath(path)
	}
	return &endpoint{url: u.String(), name: u.Scheme + "://" + u.Host, redacted: newRedactor(u, c)}, nil
}

// minSecret is the length from which a part of a URL counts as a secret. Shorter ones would blacken ordinary words in
// a server's answer.
const minSecret = 6

// newRedactor removes secrets from a server's answer, because some servers repeat the request in their error page.
func newRedactor(u *url.URL, c *config) *strings.Replacer {
	secrets := []string{c.password, c.bearer, c.routingKey}
	if c.basic {
		secrets = append(secrets, basicAuth(c.username, c.password))
	}
	for _, values := range c.headers {
		secrets = append(secrets, values...)
	}
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, password, url.QueryEscape(password), basicAuth(u.User.Username(), password))
	} else if token := u.User.Username(); token != "" { // without a password, the name is the secret
		secrets = append(secrets, token, url.QueryEscape(token), basicAuth(token, ""))
	}
	secrets = append(secrets, urlSecrets(u)...)
	// The longest first, so that no part of a secret is replaced and the rest shown.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if s != "" {
			pairs = append(pairs, s, "[redacted]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// urlSecrets returns the parts of path and query that may be secrets, as they are, as they are in the URL, and escaped
// anew.
func urlSecrets(u *url.URL) []string {
	var found []string
	add := func(s string) {
		if len(s) >= minSecret {
			found = append(found, s, url.QueryEscape(s))
		}
	}
	if !strings.HasSuffix(u.Path, alertsPath) {
		for part := range strings.SplitSeq(u.Path+"/"+u.EscapedPath(), "/") {
			add(part)
		}
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if _, value, named := strings.Cut(pair, "="); named {
			pair = value
		}
		add(pair)
	}
	for _, values := range u.Query() {
		for _, v := range values {
			add(v)
		}
	}
	return found
}

func basicAuth(username, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
}
