package views

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/pprof"
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
	span, ok := spanOf(w, r)
	if !ok {
		return
	}
	p := pprof.Profile{Began: span.From, Ended: span.To, Every: time.Second}
	for _, c := range v.source.WaitChains(span.From, span.To) {
		first := c.Links[0]
		p.Samples = append(p.Samples, pprof.Sample{
			Stack: frames(c), Count: int64(c.Waited), Delay: time.Duration(c.Waited) * time.Second,
			Labels: []pprof.Label{
				{Name: "resource", Value: first.Resource}, {Name: "class", Value: c.Class},
				{Name: "instance", Value: first.Instance}, {Name: "backend", Value: first.Backend},
			},
		})
	}
	sendProfile(w, "lock-chains.pb.gz", p)
}

// frames are those of a chain, the waiter last. The first one is the holder that waits for nobody, or why no holder is
// known.
func frames(c state.WaitChain) []pprof.Frame {
	first := c.Links[0]
	waiter := cmp.Or(place(first.Instance, first.CallSite), state.Unnamed)
	all := []pprof.Frame{frame(waiter+" waits for "+first.Resource, first.CallSite)}
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
func frame(name, site string) pprof.Frame {
	f := pprof.Frame{Function: name, File: site}
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
