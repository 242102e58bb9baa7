package views

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// waitChains has the chains of waiting calls and their blockers of the last hour.
type waitChains interface {
	WaitChains(from, to time.Time) []state.WaitChain
}

// flameView answers with a profile whose stacks are chains: the waiter, its blocker, what blocks that, and so on.
type flameView struct{ source waitChains }

func flame(source any) (View, bool) {
	s, ok := source.(waitChains)
	return View{"flame", &flameView{s}}, ok
}

// ServeHTTP implements http.Handler.
func (v *flameView) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if !readOnly(w, r) {
		return
	}
	s, ok := spanOf(w, r)
	if !ok {
		return
	}
	p := waitProfile{began: s.from, ended: s.to, every: time.Second}
	for _, c := range v.source.WaitChains(s.from, s.to) {
		first := c.Links[0]
		p.samples = append(p.samples, sample{
			stack: frames(c), count: int64(c.Waited), delay: time.Duration(c.Waited) * time.Second,
			labels: []label{
				{name: "resource", value: first.Resource}, {name: "class", value: c.Class},
				{name: "instance", value: first.Instance}, {name: "backend", value: first.Backend},
			},
		})
	}
	sendProfile(w, "lock-chains.pb.gz", p)
}

// frames are those of a chain, the waiter last. The first one is the holder that waits for nobody, or why no holder is
// known.
func frames(c state.WaitChain) []live.ProfileFrame {
	first := c.Links[0]
	waiter := cmp.Or(place(first.Instance, first.CallSite), state.Unnamed)
	all := []live.ProfileFrame{frame(waiter+" waits for "+first.Resource, first.CallSite)}
	for i, l := range c.Links {
		name := place(l.Holder, l.HolderSite)
		switch {
		case name == "":
			name = noHolder(c.Class, i > 0)
		case i+1 < len(c.Links):
			next := c.Links[i+1]
			if next.CallSite != "" && next.CallSite != l.HolderSite {
				name += ", waiting at " + next.CallSite
			}
			name += " holds " + l.Resource + ", waits for " + next.Resource
		default:
			name += " holds " + l.Resource
		}
		all = append(all, frame(name, l.HolderSite))
	}
	slices.Reverse(all)
	return all
}

// frame stands for a call site, file.go:line, which may be empty.
func frame(name, site string) live.ProfileFrame {
	f := live.ProfileFrame{Function: name, File: site}
	if at := strings.LastIndexByte(site, ':'); at >= 0 {
		if line, err := strconv.ParseInt(site[at+1:], 10, 32); err == nil {
			f.File, f.Line = site[:at], int(line)
		}
	}
	return f
}

// place is where a call was made, and in which process.
func place(instance, callSite string) string {
	switch {
	case callSite == "":
		return instance
	case instance == "":
		return callSite
	}
	return callSite + " (" + instance + ")"
}

// noHolder says why there is no holder at the end of a chain.
func noHolder(class string, behindHolder bool) string {
	if behindHolder || class == "holder" || class == "unknown" {
		return "holder unknown"
	}
	return strings.ReplaceAll(class, "_", " ")
}
