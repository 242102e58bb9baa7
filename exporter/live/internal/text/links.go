package text

import (
	"net/url"
	"strings"
)

// traceIDHere is the placeholder of a trace id in a URL.
const traceIDHere = "{traceID}"

const maxURL = 1024

// ValidTraceURL requires a fixed host, so that a trace id cannot choose where a link leads.
func ValidTraceURL(template string) bool {
	host, rest, _ := strings.Cut(template, traceIDHere)
	_, err := url.Parse(host + rest)
	before, beforeErr := url.Parse(host)
	return err == nil && beforeErr == nil && len(template) <= maxURL && strings.Count(template, traceIDHere) == 1 &&
		isWeb(before) && strings.Contains(strings.TrimPrefix(host, before.Scheme+"://"), "/")
}

// isWeb reports whether a URL can be opened and contains no password.
func isWeb(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// PageOf returns the page of another process, or "" for an invalid one: anybody who can write to Redis can write
// anything.
func PageOf(page string) string {
	u, err := url.Parse(page)
	if err != nil || !isWeb(u) || len(page) > maxURL {
		return ""
	}
	return u.String()
}
