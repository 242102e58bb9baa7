package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// checkMarker: a server of three or more votes only with the proof that it remembers, for
// the very nodes and the longest TTL that its marker names.
func checkMarker(f Facts, p Policy) inspect.Result {
	m := f.Marker
	ours := m.Of(p.NodeNames, p.MaxTTL)
	marked, _ := guard.ParseMarker(f.Marked)
	left, ofChange := f.LeftOfChange(p, p.now)
	alone := f.refusesAlone(p)
	switch {
	case alone != nil:
		text := strings.SplitN(alone.Error(), ": ", 3) // the sentinel, what is wrong, and the remedy
		return inspect.Failed(text[1], text[2])
	case ofChange:
		return inspect.Warned("quarantine of a change: leases of the old configuration can be valid, so it does not vote "+
			"for another "+inspect.Whole(RoundUp(left)),
			"wait, and restart or empty no node meanwhile: no command ends this quarantine")
	case !p.quarantined():
		return inspect.Passed(
			"not needed: fewer than three nodes, a Sentinel group or a Redis Cluster vote without one, unless " +
				"the services use WithRestartQuarantine")
	case f.Unread != nil:
		return inspect.Warned("unreadable: "+f.Unread.Error(),
			f.orWait("grant +get and ~lockscope:* to this user, so that doctor can check it"))
	case m.State == stored.MarkerNone:
		return inspect.Warned(
			fmt.Sprintf(
				"none, nobody vouched for the node: it does not vote for %v, counted from a service's first request",
				inspect.Whole(RoundUp(redlock.Quarantine(p.MaxTTL)))),
			"wait, as it may have forgotten locks; run \"lockscope init\" only if all these nodes are new and unused")
	case m.State == stored.MarkerLeftover:
		return inspect.Warned(fmt.Sprintf("from before a restart or an eviction, or from another server: it does not vote for "+
			"%v, counted from a service's first request",
			inspect.Whole(RoundUp(redlock.Quarantine(p.MaxTTL)))),
			"wait, as it may have forgotten locks")
	case !ours && marked.HasLeft():
		return inspect.Failed("it left its set by a change to "+m.Configuration,
			"name the nodes of that configuration, and its --max-ttl, as the services must")
	case !ours:
		return inspect.Failed("for another configuration: "+m.Configuration,
			"it does not vote for services with these nodes and --max-ttl: check that they (or --node-names) are "+
				"those of the services; to change them, run \"lockscope reconfigure\"")
	case m.State == stored.MarkerChanging:
		return inspect.Failed("a change to this configuration ("+m.Configuration+
			") is not finished: it does not vote",
			"run the same \"lockscope reconfigure\" again to finish it, or swap --from and --redis to undo it")
	case m.State == stored.MarkerQuarantined:
		return inspect.Warned(fmt.Sprintf("quarantine %s of process %s: it does not vote for another %v",
			m.Identity, m.RunID, inspect.Whole(RoundUp(m.Left(p.MaxTTL, p.now)))),
			"wait, as it may have forgotten locks; only if you know that it did not, run \"lockscope init "+
				"--restarted\" with both")
	}
	return inspect.Passed("it votes for this configuration: " + m.Configuration)
}

// refusesAlone is the error of a caller that names these one or two nodes, where the node counts for a set of three or
// more; nil if it does not. Its marker decides that, also one of before a restart: the set may have leases there.
func (f Facts) refusesAlone(p Policy) error {
	m, ok := guard.ParseMarker(f.Marked)
	if !ok || m.HasLeft() || p.nodes >= guard.EnforcedFrom || p.Single != "" || p.Guard.WithoutGuard ||
		max(m.Fingerprint.Nodes(), m.From.Nodes()) < guard.EnforcedFrom {
		return nil
	}
	ours := guard.Config{Fingerprint: guard.NewFingerprint(p.NodeNames, p.MaxTTL)}
	return (&guard.Guard{Config: ours}).OtherConfiguration(f.Marked)
}

// LeftOfChange is what remains of the quarantine that a change to these very nodes began; ok is false if there is none.
// Even one or two nodes keep it, and a restart begins it anew.
func (f Facts) LeftOfChange(p Policy, now time.Time) (left time.Duration, ok bool) {
	m, _ := guard.ParseMarker(f.Marked)
	if !m.OfChange() || m.Fingerprint != guard.NewFingerprint(p.NodeNames, p.MaxTTL) || p.Guard.WithoutGuard {
		return 0, false
	}
	if f.Marker.State == stored.MarkerQuarantined {
		return f.Marker.Left(p.MaxTTL, now), true
	}
	return max(m.Length, redlock.Quarantine(p.MaxTTL)), true
}

// incarnation is what a marker names of the server; "" if it reports no run_id.
func incarnation(s Server, p Policy) string {
	if p.Guard.EvictingNodes {
		return s.RunID
	}
	return s.Incarnation
}

// QuarantineLeft is what remains of it by uptime_in_seconds, which can exceed the truth by
// almost a second.
func QuarantineLeft(uptime, maxTTL time.Duration) time.Duration {
	return max(0, redlock.Quarantine(maxTTL)-max(0, uptime-time.Second))
}

// RoundUp rounds up to seconds, so that nobody waits too short.
func RoundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// QuarantineLeftBy is what remains by the marker of a server that votes only with one. Where it has
// none of its own, its quarantine begins only when a service asks for its vote. A change never ends by itself.
func QuarantineLeftBy(m stored.Marker, maxTTL time.Duration, now time.Time) time.Duration {
	switch m.State {
	case stored.MarkerVoting, stored.MarkerChanging:
		return 0
	case stored.MarkerQuarantined:
		return m.Left(maxTTL, now)
	}
	return redlock.Quarantine(maxTTL)
}

// ReadMarker reads the marker of a server whose incarnation is known: see redisinfo.
func ReadMarker(ctx context.Context, c *redis.Client, incarnation string) (stored.Marker, error) {
	text, err := markerText(ctx, c)
	return stored.ReadMarker(text, incarnation, c.Options().DB), err
}

func markerText(ctx context.Context, c *redis.Client) (string, error) {
	text, err := c.Get(ctx, guard.MarkerKey).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return text, err
}

// Standings says which of the nodes may vote. A nil client is of a node that is not to be asked.
func Standings(ctx context.Context, clients []*redis.Client) []guard.Standing {
	accounts := make([]guard.Account, len(clients))
	var asking sync.WaitGroup
	for i, c := range clients {
		if c != nil {
			asking.Go(func() { accounts[i] = AccountOf(ctx, c, true) })
		}
	}
	asking.Wait()
	return guard.Judge(accounts, guard.Config{}, time.Now())
}

// AccountOf asks a server what decides whether it may vote. Without marker it does not ask for that: a server of a
// cluster may have another's.
func AccountOf(ctx context.Context, c *redis.Client, marker bool) guard.Account {
	info, mark := &redis.StringCmd{}, &redis.StringCmd{}
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		if info = p.Info(ctx); marker {
			mark = p.GetRange(ctx, guard.MarkerKey, 0, 1023)
		}
		return nil
	})
	return guard.Account{Info: info.Val(), Marker: mark.Val(), DB: c.Options().DB, Err: err}
}
