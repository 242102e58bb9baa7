package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

const reconfigureHelp = `Change the members of a set of three nodes or more, or the longest TTL of its locks.

Nobody can take a lock until the longest TTL has passed. From then on the nodes refuse services with
the old configuration: stop those services, run this, and start them with the new configuration. If
the nodes that join are a majority of the new set, as from three nodes to seven, do not start a
service with the new configuration before the change.`

const reconfigureExample = "" +
	`  lockscope reconfigure --from r1:6379,r2:6379,r3:6379 --redis r1:6379,r2:6379,r4:6379  # replace r3
  lockscope reconfigure --from r1:6379,r2:6379,r4:6379 --redis r1:6379,r2:6379,r3:6379   # undo it
  lockscope reconfigure --redis r1:6379,r2:6379,r3:6379 --from-max-ttl 1m --max-ttl 10m`

type reconfigureFlags struct {
	redis      servers.RedisFlags
	output     ui.Format
	names      servers.NamesFlag
	guard      diagnosis.GuardFlags
	maxTTL     time.Duration
	from       *ui.List
	fromNames  *ui.List
	fromMaxTTL time.Duration
}

// Reconfigure is lockscope reconfigure.
func Reconfigure(a *ui.App) *cobra.Command {
	f := &reconfigureFlags{from: ui.NewList("URL"), fromNames: ui.NewList("name")}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-username", "redis-password-file", "node-names", "max-ttl", "from", "from-node-names",
			"from-max-ttl", "output",
		},
		Exit:   "0 changed, 1 changed but some nodes did not answer, 2 refused, or an error",
		Topics: []string{"quarantine", "connection", "json"},
	}.On(&cobra.Command{
		Use: "reconfigure", Short: "Change the members of a set of nodes, or the longest TTL", Long: reconfigureHelp,
		Example: reconfigureExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.redis.Register(set)
	f.names.Register(set)
	f.guard.RegisterForActs(set)
	set.DurationVar(&f.maxTTL, "max-ttl", lock.DefaultMaxTTL,
		"longest TTL of a lock from now on. WithMaxTTL of the services")
	set.Var(f.from, "from", "nodes of the old configuration. Give them as for --redis; without it, those of --redis")
	set.Var(f.fromNames, "from-node-names",
		"names that the old services give the nodes, in the order of --from. Without this and --from, those of --node-names")
	set.DurationVar(&f.fromMaxTTL, "from-max-ttl", 0,
		"longest TTL of the old configuration. Without it, that of --max-ttl")
	f.output.Register(set)
	ui.Group(set, "New configuration", "redis", "node-names", "max-ttl")
	ui.Group(set, "Old configuration", "from", "from-node-names", "from-max-ttl")
	return cmd
}

// reconfigureReport is the JSON form of a change.
type reconfigureReport struct {
	Schema     int      `json:"schema"`
	Status     string   `json:"status"`
	Away       []string `json:"away"`
	Quarantine float64  `json:"quarantine_seconds"`
}

func (f *reconfigureFlags) run(ctx context.Context, a *ui.App) error {
	if f.redis.Config.Cluster || f.redis.Config.SentinelMaster != "" {
		return errors.New("--cluster and --sentinel-master have no configuration to change: their nodes vote for any")
	}
	switch {
	case f.maxTTL <= 0:
		return fmt.Errorf("--max-ttl %v is not positive", f.maxTTL)
	case f.fromMaxTTL < 0:
		return fmt.Errorf("--from-max-ttl %v is not positive", f.fromMaxTTL)
	case f.fromMaxTTL == 0:
		f.fromMaxTTL = f.maxTTL
	}
	nodes, err := f.redis.Open(a)
	if err != nil {
		return err
	}
	defer servers.Release(nodes)
	to, err := f.configuration(nodes, f.names, f.maxTTL)
	if err != nil {
		return err
	}
	oldNodes, oldNames := nodes, servers.NamesFlag{List: f.fromNames}
	if urls := f.from.Values(); len(urls) > 0 {
		if oldNodes, err = f.redis.OpenURLs(a, urls); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		defer servers.Release(oldNodes)
	} else if len(f.fromNames.Values()) == 0 {
		oldNames = f.names
	}
	from, err := f.configuration(oldNodes, oldNames, f.fromMaxTTL)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	away, err := redlock.Reconfigure(ctx, from, to)
	if ctx.Err() != nil {
		return errors.Join(ui.ErrInterrupted, err)
	}
	unchanged := errors.Is(err, redlock.ErrAlreadyChanged)
	if err != nil && !unchanged {
		return err
	}
	if err := f.write(a, away, unchanged, f.left(ctx, nodes)); err != nil || len(away) == 0 {
		return err
	}
	return &ui.StatusError{Status: ui.ExitFindings}
}

func (f *reconfigureFlags) configuration(nodes []servers.Node, names servers.NamesFlag, maxTTL time.Duration) (
	redlock.Configuration, error,
) {
	called, err := names.Of(nodes)
	if err != nil {
		return redlock.Configuration{}, err
	}
	options := Options(called, maxTTL, f.guard)
	return redlock.Configuration{Nodes: servers.Clients(nodes), Options: options}, nil
}

// left is how long the changes keep a quorum of these nodes from voting, as their markers say. That can be longer than
// the TTLs of this change allow: leases from before an earlier one may be valid.
func (f *reconfigureFlags) left(ctx context.Context, nodes []servers.Node) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	left := make([]time.Duration, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() {
			text, err := n.Client.Get(ctx, guard.MarkerKey).Result()
			switch m, _ := guard.ParseMarker(text); {
			case err != nil:
				left[i] = redlock.Quarantine(max(f.maxTTL, f.fromMaxTTL))
			case m.OfChange():
				left[i] = m.Left(0, time.Now())
			}
		})
	}
	asking.Wait()
	slices.Sort(left)
	return left[len(left)/2]
}

func (f *reconfigureFlags) write(a *ui.App, away []string, unchanged bool, silent time.Duration) error {
	status, text := "changed", "changed: "
	if unchanged {
		status, text = "unchanged", "unchanged: the nodes already have this configuration; "
	}
	switch {
	case silent > 0:
		text += fmt.Sprintf("nobody can take a lock for %v, counted from a service's first request\n",
			inspect.Whole(diagnosis.RoundUp(silent)))
	case unchanged:
		text = "unchanged: the nodes already have this configuration\n"
	default:
		text += "the nodes that joined are in quarantine, and the others go on voting\n"
	}
	if f.output == ui.JSON {
		return ui.WriteJSON(a.Out, reconfigureReport{ui.SchemaVersion, status, append([]string{}, away...),
			silent.Seconds()})
	}
	if len(away) > 0 {
		text += fmt.Sprintf(
			"did not answer, and vote for neither configuration: %s\n-> run this again once they are back\n",
			strings.Join(away, " "))
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}
