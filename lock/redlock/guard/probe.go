package guard

import (
	"context"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// ProbeDue reports whether the last check of the server is more than a second ago. It returns true to
// one caller, which sends INFO together with its vote, and passes the reply to [Guard.Probed] before
// the vote counts. An operator may give a running server a policy that evicts, or make it a replica,
// while all connections stay open. Even if the policy was corrected since, the count of evicted keys
// shows it.
func (g *Guard) ProbeDue() bool {
	if g.Off || !g.met.Load() {
		return false
	}
	now, last := int64(g.Clock()), g.probedAt.Load()
	return now-last >= int64(reexamineAfter) && g.probedAt.CompareAndSwap(last, now)
}

// Probed takes the reply to the INFO that [Guard.ProbeDue] asked for. It ignores errors of the
// connection, since the vote has failed as well.
func (g *Guard) Probed(text string, err error) {
	switch {
	case err == nil:
		info := redisinfo.Parse(text)
		// A vouch for a process comes before the guard first sees it.
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

// probe sends INFO by itself while no votes are sent: keys that are evicted during a quarantine
// restart it.
func (g *Guard) probe(ctx context.Context, s Server) {
	if g.ProbeDue() {
		g.Probed(s.Info(ctx))
	}
}
