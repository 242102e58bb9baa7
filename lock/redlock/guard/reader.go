package guard

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
)

// AdmitReader returns why the node's answer to a command that only reads does not count, or nil if
// no reason is known before it is sent. Unlike [Guard.Admit] it leaves no trace on the server: it begins
// and ends no quarantine. The script compares the marker; see [Guard.Unread].
func (g *Guard) AdmitReader(ctx context.Context, s Server) error {
	if g.Off || g.clear.Load() {
		return nil
	}
	if !g.met.Load() {
		_, _ = s.Marker(ctx) // makes a connection; where that fails, so will the command
	}
	g.mu.Lock()
	now, problem := g.Clock(), g.problem
	stale := problem != nil && now-g.checkedAt > reexamineAfter
	if stale {
		g.checkedAt = now // one caller probes, the others use what is known
	}
	g.mu.Unlock()
	if !stale {
		return problem
	}
	g.Probed(s.Info(ctx))
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.problem
}

// Unread returns the error of a command that only reads, from a server with this marker instead of
// the expected one. Only an acquire starts and ends the quarantine of such a server.
func (g *Guard) Unread(marker string) error {
	if m, ok := ParseMarker(marker); ok && m.Fingerprint != g.Fingerprint {
		return fmt.Errorf("%w: %w", driver.ErrNotSent, otherConfiguration(m, g.Fingerprint))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.silence != nil && g.silence.memory == g.memory {
		return fmt.Errorf("%w: %w", driver.ErrNotSent, g.silent(g.silence, g.Clock()))
	}
	return fmt.Errorf("%w: %w: its quarantine starts and ends with an acquire", driver.ErrNotSent, driver.ErrQuarantined)
}
