package guard

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Examine inspects the server behind a new connection before it carries a command, and
// returns what that connection has to be compared with from then on. It fails only where
// the connection does: releases must go through even where votes may not.
func (g *Guard) Examine(ctx context.Context, s Server) (Sight, error) {
	if g.Off {
		return Sight{unchecked: true}, nil
	}
	text, err := s.Info(ctx)
	if err != nil {
		if isReply(err) {
			g.report(infoRefused(err))
			return g.saw(nil), nil
		}
		return Sight{}, err
	}
	info := redisinfo.Parse(text)
	err = g.judge(info, func() (string, error) {
		marker, err := s.Marker(ctx)
		if isReply(err) {
			return "", nil // it may not be read: then nobody has vouched
		}
		return marker, err
	})
	if err != nil {
		return Sight{}, err
	}
	return g.saw(info), nil
}

// Admit says, before anything is sent, why the node may not vote. A server that was
// never examined is, first: one that may not vote should not be left with traces of
// a lock that nobody got. A finding is probed afresh from time to time: the
// operator may have mended it, or vouched, and a quarantine ends when somebody asks.
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
		*last = now // one caller probes, the others go on believing
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

// Verdict says of a vote that was granted why it does not count, or nil: the connection
// that carried it may be the first since the node got a problem, or the server may have
// dropped keys since the vote was sent with what the connection saw.
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
		return fmt.Errorf("%w: it has evicted keys a moment ago", driver.ErrQuarantined)
	}
	if g.replaced {
		g.restart.Store(&driver.Restart{Witnessed: true, Evicted: g.evicted})
	}
	g.silence, g.known, g.voted, g.replaced, g.evicted = nil, "", true, false, false
	g.Servers.noteVote()
	g.settle()
	return nil
}
