package guard

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Look reports that what is known of the server is older than a second. It says so to
// one caller, who asks for INFO together with its vote and passes on the reply before the
// vote counts: see [Guard.Looked]. An operator may give a running server a policy that
// evicts, or make it a replica, while all connections stay open; and a policy that was
// mended since has left its mark in the count of evicted keys.
func (g *Guard) Look() bool {
	if g.Off || !g.met.Load() {
		return false
	}
	now, last := int64(g.Clock()), g.looked.Load()
	return now-last >= int64(reexamineAfter) && g.looked.CompareAndSwap(last, now)
}

// Looked takes the reply to INFO that [Guard.Look] asked for. An error of the connection
// says nothing of the server: the vote has failed as well.
func (g *Guard) Looked(text string, err error) {
	switch {
	case err == nil:
		info := redisinfo.Parse(text)
		_ = g.judge(info, func() (string, error) { return "", nil }) // who vouches for a process does so before it is met
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

// look asks by itself, where nothing is sent that could take the question along: keys that
// are evicted during a quarantine make it begin anew.
func (g *Guard) look(ctx context.Context, s Server) {
	if g.Look() {
		g.Looked(s.Info(ctx))
	}
}

// infoRefused says what to do about a server that does not say who it is. One that does
// not know this client refuses everything: no right would help.
func infoRefused(err error) error {
	if text := err.Error(); strings.HasPrefix(text, "NOAUTH") || strings.HasPrefix(text, "WRONGPASS") {
		return fmt.Errorf("%w: give the client the user and password of this server: %w", driver.ErrDenied, err)
	}
	return fmt.Errorf("%w: INFO is refused: grant +info to this user, or use WithoutGuard: %w", driver.ErrUnexamined, err)
}
