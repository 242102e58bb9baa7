package diagnosis

import (
	"fmt"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/quarantine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// checkMarker: a server of three or more votes only with the proof that it remembers, for
// the very nodes and the longest TTL that its marker names.
func checkMarker(f Facts, p Policy) Result {
	m := f.Marker
	ours := m.Of(p.NodeNames, p.MaxTTL)
	switch {
	case !p.quarantined():
		return Passed("not needed: fewer than three nodes, a Sentinel group or a Redis Cluster vote without, unless " +
			"WithRestartQuarantine is given")
	case f.Unread != nil:
		return Warned("it cannot be read: "+f.Unread.Error(),
			"grant +get and ~lockscope:* to this user to have it checked")
	case m.State == redlock.MarkerNone:
		return Warned(
			fmt.Sprintf("none, not vouched for: it does not vote for another %v, from when a service first asks it",
				quarantine.RoundUp(redlock.Quarantine(p.MaxTTL))),
			"wait, for it may have forgotten locks; only if all these nodes are new and were never used: lockscope init")
	case m.State == redlock.MarkerLeftover:
		return Warned(fmt.Sprintf("of before it restarted or evicted keys, or of another server: it does not vote for "+
			"another %v, from when a service first asks it",
			quarantine.RoundUp(redlock.Quarantine(p.MaxTTL))),
			"wait, for it may have forgotten locks")
	case !ours:
		return Failed("of another configuration: "+m.Configuration,
			"it votes for no service with these nodes and --max-ttl: are they, or --node-names, those of the services? To "+
				"change them: lockscope reconfigure")
	case m.State == redlock.MarkerChanging:
		return Failed("a change to this configuration ("+m.Configuration+
			") was begun and not finished: it does not vote",
			"run the same lockscope reconfigure again to finish it, or with --from and --redis exchanged to undo it")
	case m.State == redlock.MarkerQuarantined:
		return Warned(fmt.Sprintf("quarantine %s of process %s: it does not vote for another %v",
			m.Identity, f.Server.Incarnation, quarantine.RoundUp(m.Left(p.MaxTTL, p.now))),
			"wait, for it may have forgotten locks; only if you know that it did not: lockscope init --restarted, with both")
	}
	return Passed("it votes for this configuration: " + m.Configuration)
}
