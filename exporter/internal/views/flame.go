package views

import (
	"net/http"
	"strings"
	"time"

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
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !reads(w, r) {
		return
	}
	span, ok := spanOf(w, r)
	if !ok {
		return
	}
	p := newChains(span.From, span.To.Sub(span.From))
	for _, c := range v.source.WaitChains(span.From, span.To) {
		first := c.Links[0]
		p.add(frames(c), int64(c.Waited), time.Duration(c.Waited)*time.Second, map[string][]string{
			"resource": {first.Resource}, "class": {c.Class}, "instance": {first.Instance}, "backend": {first.Backend},
		})
	}
	writeChains(w, p, "lock-chains.pb.gz")
}

// frames are those of a chain, the waiter first. The last one is the holder that waits for nobody, or why no holder is
// known.
func frames(c state.WaitChain) []frame {
	first := c.Links[0]
	all := []frame{{name: place(first.Instance, first.CallSite) + " waits for " + first.Resource, site: first.CallSite}}
	for i, l := range c.Links {
		name := place(l.Holder, l.HolderSite)
		switch {
		case l.Holder == "" && l.HolderSite == "":
			name = unnamed(c.Class, i > 0)
		case i+1 < len(c.Links):
			next := c.Links[i+1]
			if next.CallSite != "" && next.CallSite != l.HolderSite {
				name += ", waiting at " + next.CallSite
			}
			name += " holds " + l.Resource + ", waits for " + next.Resource
		default:
			name += " holds " + l.Resource
		}
		all = append(all, frame{name: name, site: l.HolderSite})
	}
	return all
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

// unnamed says why there is no holder at the end of a chain.
func unnamed(class string, behindHolder bool) string {
	if behindHolder || class == "holder" || class == "unknown" {
		return "holder unknown"
	}
	return strings.ReplaceAll(class, "_", " ")
}
