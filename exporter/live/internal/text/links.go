package text

import (
	"net/url"
	"strings"
)

// traceIDHere is what stands for a trace id in a URL.
const traceIDHere = "{traceID}"

const maxURL = 1024

// ValidTraceURL asks for a fixed host: a trace id must not choose where a link leads.
func ValidTraceURL(template string) bool {
	host, rest, _ := strings.Cut(template, traceIDHere)
	_, err := url.Parse(host + rest)
	before, beforeErr := url.Parse(host)
	return err == nil && beforeErr == nil && len(template) <= maxURL && strings.Count(template, traceIDHere) == 1 &&
		isWeb(before) && strings.Contains(strings.TrimPrefix(host, before.Scheme+"://"), "/")
}

// isWeb reports that a URL can be opened, and tells no password.
func isWeb(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// PageOf is the page of another process, and empty for what is none: whoever can write to
// Redis can say anything.
func PageOf(page string) string {
	u, err := url.Parse(page)
	if err != nil || !isWeb(u) || len(page) > maxURL {
		return ""
	}
	return u.String()
}
