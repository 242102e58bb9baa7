package guard

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Examine checks the server behind a new connection before it carries a command. It returns the
// Sight that commands on the connection compare with the server's marker. It fails only if the
// connection does, or the server cannot answer now: releases must go through even if votes may not.
func (g *Guard) Examine(ctx context.Context, s Server) (Sight, error) {
	if g.Off {
		return Sight{unchecked: true}, nil
	}
	asked := g.Clock()
	text, err := s.Info(ctx)
	if err != nil {
		if isRefusal(err) {
			g.report(infoRefused(err))
			return g.saw(nil), nil
		}
		return Sight{}, err
	}
	info := redisinfo.Parse(text)
	g.compareClocks(info, asked)
	if err := g.learn(ctx, s, info); err != nil && !isRefusal(err) {
		return Sight{}, err
	}
	err = g.judge(info, func() (string, error) {
		marker, err := s.Marker(ctx)
		if isRefusal(err) {
			return "", nil // the user may not read it: then nobody has vouched
		}
		return marker, err
	})
	if err != nil {
		return Sight{}, err
	}
	return g.saw(info), nil
}

// Admit returns why the node may not vote, before anything is sent. It first examines a server that
// was never examined: a server that may not vote must not keep traces of a failed attempt. After a
// while it checks a problem again, since the operator may have solved it or vouched. A quarantine
// ends only when a caller asks.
func (g *Guard) Admit(ctx context.Context, s Server) error {
	if g.Off || g.clear.Load() {
		return nil
	}
	if !g.met.Load() {
		_, _ = s.Marker(ctx) // makes a connection; where that fails, so will the vote
	}
	g.mu.Lock()
	now, problem, silence := g.Clock(), g.problem, g.silence
	last := &g.askedAt
	if problem != nil {
		last = &g.checkedAt
	}
	stale := now-*last > reexamineAfter
	if stale {
		*last = now // one caller probes, the others use what is known
	}
	g.mu.Unlock()
	switch {
	case problem != nil && stale:
		g.Probed(s.Info(ctx))
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.problem
	case problem != nil:
		return problem
	case silence == nil:
		return nil
	case stale || now >= silence.until:
		g.probe(ctx, s)
		return g.ask(ctx, s)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.silent(silence, now)
}

// Verdict returns why a granted vote does not count; nil if it does. Its connection may be the first
// since the node got a problem, or the server may have evicted keys since the vote was sent.
func (g *Guard) Verdict(sent Sight) error {
	if g.Off || g.clear.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.problem != nil {
		return g.problem
	}
	if g.enforces() && sent.runID == g.runID && sent.incarnation != g.memory {
		return fmt.Errorf("%w: it evicted keys since the vote was sent", driver.ErrQuarantined)
	}
	if g.replaced {
		g.restart.Store(&driver.Restart{Witnessed: true, Evicted: g.evicted})
	}
	g.silence, g.known, g.voted, g.replaced, g.evicted = nil, "", true, false, false
	g.Servers.noteVote()
	g.settle()
	return nil
}
