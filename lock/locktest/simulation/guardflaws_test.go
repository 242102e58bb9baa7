//go:build !race

package simulation

import (
	"strings"

	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// guardFlawSeeds are first seeds for defects that few histories show.
var guardFlawSeeds = map[string]uint64{
	"a vouch for any quarantine": 1326,
	"any set of nodes":           4201,
}

// guardFlaws switch off one rule of the guard each: the simulation must then find a violation. Most were
// counterexamples to an earlier design.
var guardFlaws = map[string]struct {
	scope scope
	plant plant
}{
	"the marker does not name its process": {forgetful(stale), plant{
		prepare: func(h *history) {
			for _, s := range h.servers {
				s.SetMarker(strings.Replace(s.Marker(), s.RunID(), s.Name(), 1))
			}
		},
		guards: func(g *locktest.Guards) {
			g.Misread = func(info string) string {
				before, rest, _ := strings.Cut(info, "run_id:")
				id, after, _ := strings.Cut(rest, "\r\n")
				name, _, _ := strings.Cut(id, ".")
				return before + "run_id:" + name + "\r\n" + after
			}
		},
	}},
	"connections do not know their process": {forgetful(stale),
		plant{guards: func(g *locktest.Guards) { g.OneSight = true }}},
	"the node's clock alone": {forgetful(setRight), plant{guards: func(g *locktest.Guards) {
		g.Asking = func(s *memstate.Instant, a *memstate.Asked) { a.CallerMS = s.NowUS / 1000 }
	}}},
	"the callers' clock alone": {forgetful(wiped), plant{guards: func(g *locktest.Guards) {
		g.Asking = func(s *memstate.Instant, a *memstate.Asked) { s.NowUS = a.CallerMS * 1000 }
	}}},
	"a vouch for those that answer": {vouching(), plant{vouch: func(h *history, v *guard.Vouch) {
		var silent guard.Members // the others are asked by nobody
		for i, m := range v.Members {
			if !strings.HasPrefix(h.servers[i].Marker(), "voting|") {
				silent = append(silent, m)
			}
		}
		v.Members = silent
	}}},
	"a vouch for any quarantine": {vouching(), plant{vouch: func(_ *history, v *guard.Vouch) {
		for _, m := range v.Members {
			m.Conn.(*locktest.FakeMember).Loose = true
		}
	}}},
	"any set of nodes": {changing(), plant{guards: func(g *locktest.Guards) { g.Fingerprint = fingerprintOf(3) }}},
	"a change without those that join": {changing(), plant{change: func(c *guard.Change) {
		var there guard.Members
		for _, m := range c.To {
			for _, old := range c.From {
				if old == m {
					there = append(there, m)
				}
			}
		}
		c.To = there
	}}},
	"a change that leaves an old quorum": {changing(), plant{change: func(c *guard.Change) {
		c.From = c.From[:1]
		if len(c.To) > 3 {
			c.To = append(c.From[:1:1], c.To[3:]...)
		}
	}}},
}

func vouching() scope {
	s := forgetful(wiped, flushed)
	s.vouched = true
	return s
}

func changing() scope {
	return scope{alwaysBad: true, resources: 1, holdLong: true, noWipes: true, changed: true}
}
