package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/systems"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/zklock"
)

const doctorHelp = `Doctor checks on these very servers whether what Redlock assumes is true of them:
that they are separate masters that do not evict, remember locks and fence counters
over a restart, have clocks of true rate, answer fast enough, and grant the rights a
lock needs. It changes nothing: rights are tried with commands that do nothing on keys
that do not exist.

A server that restarted or lost its data may have forgotten locks that are still valid,
whatever it keeps on disk. Of three nodes or more it therefore votes only with a marker
of its own, for these very nodes and --max-ttl; without one it keeps silent for --max-ttl
and 1 %, and at least 15 s. One or two vote at once. What ends that earlier is lockscope
init, for new nodes only. Doctor says of each node which it is.

With --postgres, --etcd and --zookeeper it checks what lockscope's drivers assume there:
a primary that keeps what it commits, a pooler in front of it, the schema and the rights of the role, members that
are of one cluster and have a majority, alarms, sessions long enough for --max-ttl (of
ZooKeeper 10s unless it is given). --node-timeout and --ttl are judged by as for Redis.

Exit status: 0 all pass, 1 the worst is a warning, 2 the worst is a failure, or the
check itself failed.

JSON output (schema 1): status; results[] of backend (absent: redis), check, node
(absent: all nodes), status, detail, advice; nodes[] with the numbers measured, in seconds and ppm, and
quarantine_left_seconds: how long locks the node may have forgotten can be valid, and
what its marker says: marker (none, voting, quarantine, changing, leftover),
configuration, run_id and quarantine, which lockscope init --restarted wants.`

const doctorExample = `  lockscope doctor --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379
  lockscope doctor --redis-file nodes.txt --redis-password-file /run/secrets/redis --for 30s
  lockscope doctor --redis r1:6379 --redis-username admin --acl-user orders   # another user's rights
  lockscope doctor --postgres postgres://orders@db/shop --etcd e1:2379,e2:2379,e3:2379 --zookeeper z1:2181 --max-ttl 30s
  lockscope doctor --redis r1:6379 -o json | jq '.results[] | select(.status != "pass")'`

type doctorFlags struct {
	redis    target.Flags
	backends systems.Flags
	output   output.Format
	names    target.NamesFlag
	policy   diagnosis.Policy

	set *pflag.FlagSet // in which they were registered
}

// Command is lockscope doctor.
func Command(a *app.App) *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check whether servers are fit for locks", Long: doctorHelp, Example: doctorExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.set = set
	f.redis.Register(set)
	f.backends.Register(set)
	f.output.Register(set)
	f.names.Register(set)
	set.DurationVar(&f.policy.For, "for", diagnosis.DefaultFor, "how long to sample clocks and latency")
	set.DurationVar(&f.policy.TTL, "ttl", diagnosis.DefaultTTL, "TTL that most locks have")
	set.DurationVar(&f.policy.MaxTTL, "max-ttl", lock.DefaultMaxTTL,
		"longest TTL a lock may have, for which a restarted node must stay silent: WithMaxTTL of the services")
	set.DurationVar(&f.policy.NodeTimeout, "node-timeout", engine.DefaultNodeTimeout(diagnosis.DefaultTTL),
		"time after which a call to a node counts as failed: a twentieth of the TTL unless set")
	set.StringVar(&f.policy.Prefix, "prefix", lock.DefaultPrefix, "prefix of lock keys, for the check of rights")
	set.StringVar(&f.policy.ACLUser, "acl-user", "",
		"check the rights of this user by ACL DRYRUN (Redis 7) instead of one's own")
	return cmd
}

func (f *doctorFlags) validate() error {
	for name, d := range map[string]time.Duration{
		"for": f.policy.For, "ttl": f.policy.TTL, "max-ttl": f.policy.MaxTTL, "node-timeout": f.policy.NodeTimeout,
	} {
		if d <= 0 {
			return fmt.Errorf("--%s %v is not positive", name, d)
		}
	}
	if f.policy.Prefix == "" {
		return errors.New("--prefix is empty")
	}
	return nil
}

func (f *doctorFlags) run(ctx context.Context, a *app.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	others, err := f.backends.Open(a, &f.redis, nil)
	if err != nil {
		return err
	}
	defer systems.CloseAll(others)
	var nodes []target.Node
	if f.redis.Named() || len(others) == 0 {
		if nodes, err = f.redis.Open(a); err != nil {
			return err
		}
		defer target.Release(nodes)
		if f.policy.NodeNames, err = f.names.Of(nodes); err != nil {
			return err
		}
	}
	d := f.examine(ctx, nodes, others)
	if ctx.Err() != nil {
		return app.ErrInterrupted
	}
	if err := writeDoctor(a, f.output, f.policy, d); err != nil {
		return err
	}
	switch diagnosis.Worst(d.results) {
	case diagnosis.Warn:
		return &app.StatusError{Status: app.ExitFindings}
	case diagnosis.Fail:
		return &app.StatusError{Status: app.ExitError}
	}
	return nil
}

// examine asks all systems at the same time.
func (f *doctorFlags) examine(ctx context.Context, nodes []target.Node, others []backend.Backend) examined {
	d := examined{others: make([]diagnosis.Examination, len(others))}
	policy := f.policy
	policy.SessionTTL = f.zookeeperTTL()
	var asking sync.WaitGroup
	for i, b := range others {
		asking.Go(func() { d.others[i] = b.Examine(ctx, policy) })

	}
	if len(nodes) > 0 {
		d.facts = f.gather(ctx, nodes)
		d.results = diagnosis.Examine(d.facts, f.policy)
	}
	asking.Wait()
	for _, e := range d.others {
		d.results = append(d.results, e.Results...)
	}
	return d
}

// zookeeperTTL is the longest TTL there, which has another default: sessions are as long as
// locks may be.
func (f *doctorFlags) zookeeperTTL() time.Duration {
	if f.set.Changed("max-ttl") {
		return f.policy.MaxTTL
	}
	return zklock.DefaultMaxTTL
}

func (f *doctorFlags) gather(ctx context.Context, nodes []target.Node) []diagnosis.Facts {
	switch {
	case f.redis.Config.Cluster:
		f.policy.Single = "cluster"
	case f.redis.Config.SentinelMaster != "":
		f.policy.Single = "Sentinel group"
	}
	var servers []diagnosis.Node
	for _, n := range nodes {
		switch c := n.Client.(type) {
		case *redis.Client:
			servers = append(servers, diagnosis.Node{Name: n.Name, Address: n.Address, Client: c})
		case *redis.ClusterClient:
			masters, err := mastersOf(ctx, c)
			if err != nil {
				return []diagnosis.Facts{{Node: n.Name, Address: n.Address, Err: err}}
			}
			servers = append(servers, masters...)
		}
	}
	return diagnosis.Gather(ctx, servers, f.policy)
}

func mastersOf(ctx context.Context, c *redis.ClusterClient) ([]diagnosis.Node, error) {
	var mu sync.Mutex
	var masters []diagnosis.Node
	err := c.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, diagnosis.Node{Name: m.Options().Addr, Address: m.Options().Addr, Client: m})
		return nil
	})
	if err == nil && len(masters) == 0 {
		err = errors.New("the cluster has no masters")
	}
	return masters, err
}
