package guard

import (
	"context"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// ProbeDue reports that what is known of the server is older than a second. It says so to
// one caller, who asks for INFO together with its vote and passes on the reply before the
// vote counts: see [Guard.Probed]. An operator may give a running server a policy that
// evicts, or make it a replica, while all connections stay open; and a policy that was
// mended since has left its mark in the count of evicted keys.
func (g *Guard) ProbeDue() bool {
	if g.Off || !g.met.Load() {
		return false
	}
	now, last := int64(g.Clock()), g.probedAt.Load()
	return now-last >= int64(reexamineAfter) && g.probedAt.CompareAndSwap(last, now)
}

// Probed takes the reply to INFO that [Guard.ProbeDue] asked for. An error of the connection
// says nothing of the server: the vote has failed as well.
func (g *Guard) Probed(text string, err error) {
	switch {
	case err == nil:
		info := redisinfo.Parse(text)
		// Who vouches for a process does so before it is met.
		_ = g.judge(info, func() (string, error) { return "", nil })
		if g.Cluster {
			g.mu.Lock()
			g.found(g.findProblem(info))
			g.mu.Unlock()
		}
		g.saw(info)
	case isReply(err):
		g.report(infoRefused(err))
	}
}

// probe asks by itself, where nothing is sent that could take the question along: keys that
// are evicted during a quarantine make it begin anew.
func (g *Guard) probe(ctx context.Context, s Server) {
	if g.ProbeDue() {
		g.Probed(s.Info(ctx))
	}
}
