package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// vouchTimeout ends before a marker of the first round would expire.
const vouchTimeout = 45 * time.Second

// vouch vouches for all nodes or for none. What stands in the way is in the report; the
// error is of what concerns no node, such as the end of ctx. A second run changes
// nothing. names and maxTTL are what the services on these nodes give them: they vote for
// no others. isNew are the names of nodes that are new although their servers show use.
func vouch(
	ctx context.Context, nodes []servers.Node, names []string, maxTTL time.Duration, g diagnosis.GuardFlags, isNew []string,
) (initResult, error) {
	before := lookAt(ctx, nodes, g)
	r := newInitResult(nodes, before, names, maxTTL)
	if refuseUnfit(&r, before) || ctx.Err() != nil {
		return r, ctx.Err()
	}
	vouching, cancel := context.WithTimeout(ctx, vouchTimeout)
	defer cancel()
	err := redlock.VouchNew(vouching, servers.Clients(nodes), isNew, Options(names, maxTTL, g)...)
	switch {
	case err == nil && r.Count(Already) == len(nodes):
		r.Result = Already
		return r, nil
	case err == nil:
		r.vouched("new: it votes at once, until it restarts")
		return r, nil
	case ctx.Err() != nil:
		return r, ctx.Err()
	}
	return refused(nodes, before, lookAt(ctx, nodes, g), err, names, maxTTL)
}

// Options are those of the services on the nodes, as far as the nodes care.
func Options(names []string, maxTTL time.Duration, g diagnosis.GuardFlags) []lock.Option {
	return append(g.Options(), lock.WithNodeNames(names...), lock.WithMaxTTL(maxTTL))
}

// refuseUnfit keeps a vouch from beginning where it would not come to its end.
func refuseUnfit(r *initResult, seen []sight) bool {
	for i, s := range seen {
		switch {
		case s.err != nil:
			r.refuse(i, s.err.Error(), ui.ConnectionAdvice(s.err))
		case len(s.missing) > 0:
			r.refuse(i, "the user lacks "+strings.Join(s.missing, " "),
				"init needs "+diagnosis.VouchGrants+
					": grant it with ACL SETUSER, or use another user with --redis-username")
		}
	}
	if r.Count(Refused) == 0 {
		return false
	}
	r.Result = Refused
	return true
}

// refused finds out what a vouch that failed has left behind.
func refused(nodes []servers.Node, before, after []sight, err error, names []string, maxTTL time.Duration) (initResult, error) {
	r := newInitResult(nodes, after, names, maxTTL)
	r.Result, r.Used = Refused, true
	reasons := nodeErrors(err)
	for i := range nodes {
		reason := reasons[names[i]]
		switch {
		case r.Nodes[i].Result == Already && before[i].marker.State != stored.MarkerVoting:
			r.Nodes[i].Result, r.Nodes[i].Detail = Vouched,
				"vouched for before another node failed: it votes at once, until it restarts"
		case after[i].marker.State == stored.MarkerChanging && after[i].marker.Of(names, maxTTL):
			r.Used = false
			r.refuse(i, "a change to this configuration is not finished: it does not vote",
				`run the same "lockscope reconfigure" again to finish it, or swap --from and --redis to undo it`)
		case reason == nil || r.Nodes[i].Result == Already:
		case errors.Is(reason, redlock.ErrOtherConfiguration):
			r.Used = false
			r.refuse(i, reason.Error(),
				"give the nodes, --node-names and --max-ttl of the services; to change those, "+
					"run \"lockscope reconfigure\"")
		case errors.Is(reason, guard.ErrOfChange):
			r.Nodes[i].Left = seconds(diagnosis.QuarantineLeftBy(after[i].marker, maxTTL, time.Now()))
			r.refuse(i, "quarantine of a change: leases of the old configuration can be valid", fmt.Sprintf(
				"wait: it votes by itself in %v, once every lock of the old configuration has expired",
				inspect.Whole(diagnosis.RoundUp(time.Duration(r.Nodes[i].Left)))))
		case errors.Is(reason, redlock.ErrNotNew):
			r.refuse(i, whyNotNew(before[i], after[i], reason), whatNow(r.Nodes[i].Left, len(nodes))+orNew(names[i], reason))
		default:
			r.Used = false
			r.refuse(i, reason.Error(), advice(reason))
		}
	}
	if len(reasons) == 0 {
		return r, err
	}
	r.refuseLatecomers()
	return r, nil
}

// whyNotNew says it in words of its own: redlock.Vouch quotes a key, and keys of
// tombstones hold tokens.
func whyNotNew(before, after sight, reason error) string {
	switch {
	case before.runID != after.runID:
		return "it restarted a moment ago"
	case before.marker.State == stored.MarkerLeftover:
		return "not new: somebody vouched for it before it restarted, or it has the data of another server"
	case before.marker.State == stored.MarkerChanging:
		return "not new: a change of its configuration is not finished"
	case strings.Contains(reason.Error(), "another vouch"):
		return "another init is under way, or did not finish: wait a minute"
	}
	if use, ok := errors.AsType[*guard.UseError](reason); ok {
		return "not new: " + use.Shows
	}
	return "not new: it was used for locks before"
}

// orNew is the advice that a person can overrule what the server says of itself.
func orNew(name string, reason error) string {
	if _, ok := errors.AsType[*guard.UseError](reason); !ok {
		return ""
	}
	return "; if you know that it never granted a lock that can still be valid, add --new " + name +
		"; if it restarted and forgot none, see --restarted"
}

func advice(err error) string {
	if driver.ClassOf(err).Barred() {
		return "give each master itself, once"
	}
	return ui.ConnectionAdvice(err)
}

// nodeErrors finds what each node said, by its address.
func nodeErrors(err error) map[string]error {
	found := make(map[string]error)
	var walk func(error)
	walk = func(err error) {
		switch e := err.(type) {
		case *lock.NodeError:
			found[e.Node] = e.Err
		case interface{ Unwrap() []error }:
			for _, each := range e.Unwrap() {
				walk(each)
			}
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		}
	}
	walk(err)
	return found
}

const reachTimeout = 5 * time.Second

// sight is what a server says of itself at one time.
type sight struct {
	err     error
	missing []string // grants
	asked   bool     // INFO was read
	runID   string   // incarnation of its process; "" if it reports none
	uptime  time.Duration
	marker  stored.Marker
}

// lookAt asks all nodes at once. Without --cluster every client is of one server.
func lookAt(ctx context.Context, nodes []servers.Node, g diagnosis.GuardFlags) []sight {
	seen := make([]sight, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { seen[i] = look(ctx, n.Client.(*redis.Client), g) })
	}
	asking.Wait()
	return seen
}

func look(ctx context.Context, c *redis.Client, g diagnosis.GuardFlags) (s sight) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if s.missing, s.err = diagnosis.MissingToVouch(ctx, c); s.err != nil || len(s.missing) > 0 {
		return s // it would stop a vouch halfway
	}
	text, err := c.Info(ctx).Result()
	if err != nil {
		s.err = fmt.Errorf("INFO: %w", err)
		return s
	}
	info := diagnosis.ParseInfo(text)
	s.asked, s.runID, s.uptime = true, info.Incarnation, info.Uptime
	if g.EvictingNodes {
		s.runID = info.RunID
	}
	s.marker, s.err = diagnosis.ReadMarker(ctx, c, s.runID)
	return s
}
