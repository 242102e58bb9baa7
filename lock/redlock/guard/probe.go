package guard

import (
	"context"
	"time"

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
// connection, and of a server that cannot answer now, since the vote has failed as well.
func (g *Guard) Probed(text string, err error) {
	asked := time.Duration(g.probedAt.Load())
	switch {
	case err == nil:
		info := redisinfo.Parse(text)
		g.compareClocks(info, asked)
		// A vouch for a process comes before the guard first sees it.
		_ = g.judge(info, func() (string, error) { return "", nil })
		if g.Cluster {
			g.mu.Lock()
			g.found(g.findProblem(info))
			g.mu.Unlock()
		}
		g.saw(info)
	case isRefusal(err):
		g.report(infoRefused(err))
	}
}

// compareClocks measures how far the server's clock is ahead, by a reply to INFO that was asked for then on the guard's
// clock. A slow reply does not tell when the server wrote it.
func (g *Guard) compareClocks(info redisinfo.Info, asked time.Duration) {
	micros, took := info.Number("server_time_usec"), g.Clock()-asked
	if micros <= 0 || took > time.Second || g.Cluster {
		return
	}
	g.clockSkew.Store(int64(time.UnixMicro(micros).Sub(time.Now().Add(-took / 2))))
}

// ClockSkew returns how far the server's clock was ahead of this process's when it was asked last; 0 if unknown.
func (g *Guard) ClockSkew() time.Duration { return time.Duration(g.clockSkew.Load()) }

// probe sends INFO by itself while no votes are sent: keys that are evicted during a quarantine
// restart it.
func (g *Guard) probe(ctx context.Context, s Server) {
	if g.ProbeDue() {
		g.Probed(s.Info(ctx))
	}
}
