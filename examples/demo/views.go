package main

import (
	"net/url"
	"strings"
	"unicode"
)

// views are lines to copy into another terminal while the demo runs. page is the
// address that serves the live page, reads are the flags of lockscope top.
func views(page string, reads []string) []string {
	live := page + "/debug/locks"
	top := append([]string{"go run ./exporter/cmd/lockscope top --page", quoted(live)}, reads...)
	return []string{
		"copy into another terminal while it runs; -for 5m leaves time to look",
		"which lines of code make others wait, over five seconds:",
		"  go tool pprof -top " + quoted(live+"/profile?by=holder&seconds=5"),
		"nodes, waits, and who blocks whom:",
		"  " + strings.Join(top, " "),
		"what happened to " + contended + ", for https://ui.perfetto.dev:",
		"  curl -o trace.json " + quoted(live+"/trace?resource="+contended) + "\n",
	}
}

// quoted makes one word of a shell of s.
func quoted(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:,@=", r)
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shown is a server as a command may name it: others on the machine see its arguments.
func shown(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	if u.User.Username() == "" {
		u.User = nil
	}
	return strings.TrimPrefix(u.String(), "redis://")
}
