// Package doctor is what examines, prepares and changes a set of servers.
//
// lockscope doctor examines all systems and shows the results of package diagnosis. lockscope init declares nodes new with
// redlock.VouchNew, and reports the outcome and the next step for each node; with --postgres it creates or upgrades the
// schema of pglock instead. lockscope reconfigure changes the members of a set, or its longest TTL.
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

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
)

const doctorHelp = `Check Redis, PostgreSQL, etcd or ZooKeeper servers before you trust them with locks.

doctor checks that the servers are separate masters, do not evict keys, keep locks over a restart,
have correct clocks, answer fast enough and grant the rights that a lock needs. It changes nothing.`

const doctorExample = `  lockscope doctor --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379
  lockscope doctor --redis r1:6379 --redis-username admin --acl-user orders
  lockscope doctor --postgres postgres://orders@db/shop --etcd e1:2379,e2:2379,e3:2379`

type doctorFlags struct {
	servers servers.Flags
	output  ui.Format
	names   servers.NamesFlag
	policy  diagnosis.Policy

	set *pflag.FlagSet // in which they were registered
}

// Command is lockscope doctor.
func Command(a *ui.App) *cobra.Command {
	f := &doctorFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-file", "redis-username", "node-names", "postgres", "etcd", "zookeeper",
			"for", "ttl", "max-ttl", "node-timeout", "prefix", "acl-user", "output",
		},
		Exit:   "0 all checks pass, 1 the worst is a warning, 2 the worst is a failure, or an error",
		Topics: []string{"quarantine", "json", "connection"},
	}.On(&cobra.Command{
		Use: "doctor", Short: "Check servers before you trust them with locks", Long: doctorHelp,
		Example: doctorExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.set = set
	f.servers.Redis.Register(set)
	f.names.Register(set)
	f.policy.Guard.Register(set)
	f.servers.Others.Register(set)
	set.DurationVar(&f.policy.For, "for", diagnosis.DefaultFor, "time to sample clocks and latency")
	set.DurationVar(&f.policy.TTL, "ttl", diagnosis.DefaultTTL, "usual TTL of your locks")
	set.DurationVar(&f.policy.MaxTTL, "max-ttl", lock.DefaultMaxTTL,
		"longest TTL of a lock: WithMaxTTL of the services. A restarted node does not vote for that long. "+
			"For ZooKeeper the default is "+zklock.DefaultMaxTTL.String())
	set.DurationVar(&f.policy.NodeTimeout, "node-timeout", engine.DefaultNodeTimeout(diagnosis.DefaultTTL),
		"time after which a call to a node has failed. The default is a twentieth of --ttl, but 50ms to 500ms")
	set.StringVar(&f.policy.Prefix, "prefix", lock.DefaultPrefix,
		"prefix of the lock keys, to check the rights to them")
	set.StringVar(&f.policy.ACLUser, "acl-user", "",
		"check the rights of this `user` instead of your own. Uses ACL DRYRUN of Redis 7")
	f.output.Register(set)
	ui.Group(set, "Checks", "for", "ttl", "max-ttl", "node-timeout", "prefix", "acl-user")
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
	if !f.set.Changed("node-timeout") {
		f.policy.NodeTimeout = engine.DefaultNodeTimeout(f.policy.TTL)
	}
	if f.policy.Prefix == "" {
		return errors.New("--prefix is empty")
	}
	return nil
}

func (f *doctorFlags) run(ctx context.Context, a *ui.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	s, err := f.servers.Open(a, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(s.Nodes) > 0 {
		if f.policy.NodeNames, err = f.names.Of(s.Nodes); err != nil {
			return err
		}
	}
	d := f.examine(ctx, s.Nodes, s.Others)
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	if err := writeDoctor(a, f.output, f.policy, d); err != nil {
		return err
	}
	switch inspect.Worst(d.results) {
	case inspect.Warn:
		return &ui.StatusError{Status: ui.ExitFindings}
	case inspect.Fail:
		return &ui.StatusError{Status: ui.ExitError}
	}
	return nil
}

// examine asks all systems at the same time.
func (f *doctorFlags) examine(ctx context.Context, nodes []servers.Node, others []servers.Other) examined {
	d := examined{others: make([]diagnosis.Examination, len(others))}
	policy := f.policy
	policy.SessionTTL = f.zookeeperTTL()
	var asking sync.WaitGroup
	for i, b := range others {
		asking.Go(func() { d.others[i] = diagnosis.ExamineSystem(ctx, b, policy) })

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

func (f *doctorFlags) gather(ctx context.Context, nodes []servers.Node) []diagnosis.Facts {
	switch {
	case f.servers.Redis.Config.Cluster:
		f.policy.Single = "cluster"
	case f.servers.Redis.Config.SentinelMaster != "":
		f.policy.Single = "Sentinel group"
	}
	var servers []diagnosis.Node
	for _, n := range nodes {
		switch c := n.Client.(type) {
		case *redis.Client:
			servers = append(servers, diagnosis.Node{Name: n.Name, Address: n.Address, Client: c})
		case *redis.ClusterClient:
			masters, err := diagnosis.Masters(ctx, c)
			if err != nil {
				return []diagnosis.Facts{{Node: n.Name, Address: n.Address, Err: err}}
			}
			servers = append(servers, masters...)
		}
	}
	return diagnosis.Gather(ctx, servers, f.policy)
}
