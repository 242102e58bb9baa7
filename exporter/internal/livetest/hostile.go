package livetest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// Names are those that people and programs choose, and what the page shows of them.
func Names() map[string]string {
	return map[string]string{
		`<img src=x onerror=alert(1)>`:              `<img src=x onerror=alert(1)>`,
		`</script><script>alert(2)</script>`:        `</script><script>alert(2)</script>`,
		`"><svg onload=alert(3)>`:                   `"\"><svg onload=alert(3)>"`,
		"order:\u202e1001:drowssap":                 `"order:\u202e1001:drowssap"`,
		"a\x00b\x1b[2J\x7f\r\n":                     `"a\x00b\x1b[2J\x7f\r\n"`,
		"two  spaces and\u00a0none":                 `"two  spaces and\u00a0none"`,
		strings.Repeat("long/", 102) + "or":         strings.Repeat("long/", 102) + "or",
		strings.Repeat("x", 512):                    strings.Repeat("x", 512),
		"\U0001F512 locked \U0001F600 \u65e5\u672c": "\U0001F512 locked \U0001F600 \u65e5\u672c",
		"{{constructor.constructor('1')()}}":        "{{constructor.constructor('1')()}}",
		"javascript:alert(4)":                       "javascript:alert(4)",
		"__proto__":                                 "__proto__",
	}
}

// Hostile is a process whose every name was chosen by somebody else.
func Hostile() state.State {
	s := state.State{At: time.Now(), Instance: `<b>"instance"</b>`}
	for _, name := range slices.Sorted(maps.Keys(Names())) {
		s.Held = append(s.Held, state.Held{Resource: name, Holder: name, Age: 1, Validity: new(1.0), TraceID: name})
		s.Waiting = append(s.Waiting, state.Waiter{Resource: name, Kind: name, Error: name, TraceID: name,
			Blocker: &state.Blocker{Holder: name, TraceID: name}})
		s.Nodes = append(s.Nodes, state.Node{Name: name, Error: name})
		s.Slowest = append(s.Slowest, state.Acquisition{Resource: name, At: s.At, Took: 1, Outcome: name, Error: name,
			TraceID: name,
			Steps: []state.Step{{Kind: name, Name: name, Outcome: name, Detail: name},
				{Kind: "wait", Name: name, Outcome: name, Took: 1}}})
	}
	return s
}

// HostileReport is what a scanner found of that process.
func HostileReport() (report.Report, bool) {
	r := report.Report{Started: time.Now()}
	for name := range Names() {
		r.Silent = append(r.Silent, report.Silent{Key: inspect.KeyText(name), FirstSeen: r.Started, LastSeen: r.Started})
		r.Findings = append(r.Findings, report.Finding{Class: inspect.Class(name), Node: name, Key: name, Type: name,
			Evidence: name, Hold: inspect.Hold{Holder: lock.Holder{Instance: name}, Format: inspect.Format(name)}})
	}
	return r, true
}
