package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
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

var errInterrupted = errors.New("interrupted")

type doctorFlags struct {
	redis    redisFlags
	backends backendFlags
	output   outputFlag
	names    namesFlag
	policy   doctor.Policy

	set *pflag.FlagSet // in which they were registered
}

func newDoctor(a *app) *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check whether servers are fit for locks", Long: doctorHelp, Example: doctorExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.set = set
	f.redis.register(set)
	f.backends.register(set)
	f.output.register(set)
	f.names.register(set)
	set.DurationVar(&f.policy.For, "for", doctor.DefaultFor, "how long to sample clocks and latency")
	set.DurationVar(&f.policy.TTL, "ttl", doctor.DefaultTTL, "TTL that most locks have")
	set.DurationVar(&f.policy.MaxTTL, "max-ttl", lock.DefaultMaxTTL, "longest TTL a lock may have, for which a restarted node must stay silent: WithMaxTTL of the services")
	set.DurationVar(&f.policy.NodeTimeout, "node-timeout", engine.DefaultNodeTimeout(doctor.DefaultTTL), "time after which a call to a node counts as failed: a twentieth of the TTL unless set")
	set.StringVar(&f.policy.Prefix, "prefix", lock.DefaultPrefix, "prefix of lock keys, for the check of rights")
	set.StringVar(&f.policy.ACLUser, "acl-user", "", "check the rights of this user by ACL DRYRUN (Redis 7) instead of one's own")
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

func (f *doctorFlags) run(ctx context.Context, a *app) error {
	if err := f.validate(); err != nil {
		return err
	}
	others, err := f.backends.open(a, &f.redis, nil)
	if err != nil {
		return err
	}
	defer closeBackends(others)
	var nodes []target.Node
	if f.redis.named() || len(others) == 0 {
		if nodes, err = f.redis.open(a); err != nil {
			return err
		}
		defer closeNodes(nodes)
		if f.policy.NodeNames, err = f.names.of(nodes); err != nil {
			return err
		}
	}
	d := f.examine(ctx, nodes, others)
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err := a.writeDoctor(f, d); err != nil {
		return err
	}
	switch doctor.Worst(d.results) {
	case doctor.Warn:
		return &statusError{status: exitFindings}
	case doctor.Fail:
		return &statusError{status: exitError}
	}
	return nil
}

// diagnosis is what was found of all systems.
type diagnosis struct {
	facts   []doctor.Facts // of Redis
	others  []doctor.Examination
	results []doctor.Result
}

// examine asks all systems at the same time.
func (f *doctorFlags) examine(ctx context.Context, nodes []target.Node, others []backend.Backend) diagnosis {
	d := diagnosis{others: make([]doctor.Examination, len(others))}
	policy := f.policy
	var asking sync.WaitGroup
	for i, b := range others {
		asking.Go(func() {
			switch b := b.(type) {
			case *backend.Postgres:
				d.others[i] = doctor.Postgres(ctx, b, policy)
			case *backend.Etcd:
				d.others[i] = doctor.Etcd(ctx, b, policy)
			case *backend.ZooKeeper:
				d.others[i] = doctor.ZooKeeper(ctx, b, policy, f.zookeeperTTL())
			}
		})
	}
	if len(nodes) > 0 {
		d.facts = f.gather(ctx, nodes)
		d.results = doctor.Examine(d.facts, f.policy)
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

func (f *doctorFlags) gather(ctx context.Context, nodes []target.Node) []doctor.Facts {
	switch {
	case f.redis.target.Cluster:
		f.policy.Single = "cluster"
	case f.redis.target.SentinelMaster != "":
		f.policy.Single = "Sentinel group"
	}
	var servers []doctor.Node
	for _, n := range nodes {
		switch c := n.Client.(type) {
		case *redis.Client:
			servers = append(servers, doctor.Node{Name: n.Name, Address: n.Address, Client: c})
		case *redis.ClusterClient:
			masters, err := mastersOf(ctx, c)
			if err != nil {
				return []doctor.Facts{{Node: n.Name, Address: n.Address, Err: err}}
			}
			servers = append(servers, masters...)
		}
	}
	return doctor.Gather(ctx, servers, f.policy)
}

func mastersOf(ctx context.Context, c *redis.ClusterClient) ([]doctor.Node, error) {
	var mu sync.Mutex
	var masters []doctor.Node
	err := c.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, doctor.Node{Name: m.Options().Addr, Address: m.Options().Addr, Client: m})
		return nil
	})
	if err == nil && len(masters) == 0 {
		err = errors.New("the cluster has no masters")
	}
	return masters, err
}
