package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
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

Exit status: 0 all pass, 1 the worst is a warning, 2 the worst is a failure, or the
check itself failed.

JSON output (schema 1): status; results[] of check, node (absent: all nodes),
status, detail, advice; nodes[] with the numbers measured, in seconds and ppm, and
quarantine_left_seconds: how long locks the node may have forgotten can be valid, and
what its marker says: marker (none, voting, quarantine, changing, leftover),
configuration, run_id and quarantine, which lockscope init --restarted wants.`

const doctorExample = `  lockscope doctor --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379
  lockscope doctor --redis-file nodes.txt --redis-password-file /run/secrets/redis --for 30s
  lockscope doctor --redis r1:6379 --redis-username admin --acl-user orders   # another user's rights
  lockscope doctor --redis r1:6379 -o json | jq '.results[] | select(.status != "pass")'`

var errInterrupted = errors.New("interrupted")

type doctorFlags struct {
	redis  redisFlags
	output outputFlag
	names  namesFlag
	policy doctor.Policy
}

func newDoctor(a *app) *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check whether servers are fit for Redlock", Long: doctorHelp, Example: doctorExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.redis.register(set)
	f.output.register(set)
	f.names.register(set)
	set.DurationVar(&f.policy.For, "for", doctor.DefaultFor, "how long to sample clocks and latency")
	set.DurationVar(&f.policy.TTL, "ttl", doctor.DefaultTTL, "TTL that most locks have")
	set.DurationVar(&f.policy.MaxTTL, "max-ttl", lock.DefaultMaxTTL, "longest TTL a lock may have, for which a restarted node must stay silent: WithMaxTTL of the services")
	set.DurationVar(&f.policy.NodeTimeout, "node-timeout", lock.DefaultNodeTimeout(doctor.DefaultTTL), "time after which a call to a node counts as failed: a twentieth of the TTL unless set")
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
	nodes, err := f.redis.open(a)
	if err != nil {
		return err
	}
	defer closeNodes(nodes)
	if f.policy.NodeNames, err = f.names.of(nodes); err != nil {
		return err
	}
	facts := f.gather(ctx, nodes)
	if ctx.Err() != nil {
		return errInterrupted
	}
	results := doctor.Examine(facts, f.policy)
	if err := a.writeDoctor(f, facts, results); err != nil {
		return err
	}
	switch doctor.Worst(results) {
	case doctor.Warn:
		return &statusError{status: exitFindings}
	case doctor.Fail:
		return &statusError{status: exitError}
	}
	return nil
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
