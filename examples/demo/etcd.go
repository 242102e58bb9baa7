package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// etcdMembers is the size of the cluster: one may be away.
const etcdMembers = 3

// etcd is a cluster of etcd.
type etcd struct {
	cfg     config
	cluster *etcdproc.Cluster
}

var _ backend = (*etcd)(nil)

func openEtcd(ctx context.Context, cfg config) (backend, error) {
	if err := etcdproc.Available(); err != nil {
		return nil, missing(etcdproc.ErrNotInstalled, err)
	}
	cluster, err := etcdproc.Start(ctx, etcdMembers)
	if err != nil {
		return nil, err
	}
	return &etcd{cfg: cfg, cluster: cluster}, nil
}

func (e *etcd) locker(instance string) (*engine.Engine, error) {
	client, err := e.cluster.Client()
	if err != nil {
		return nil, err
	}
	locker, err := etcdlock.New(client, append(e.cfg.options(instance), closing(client.Close))...)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return locker, nil
}

func (e *etcd) describe() []string {
	return []string{
		fmt.Sprintf("a cluster of %d etcd members, for clients at", len(e.cluster.Members)),
		strings.Join(e.cluster.Endpoints(), " "),
	}
}

func (e *etcd) reads() []string {
	return []string{"--etcd", quoted(strings.Join(e.cluster.Endpoints(), ","))}
}

func (e *etcd) faults(f *faults) []fault {
	// An etcd lease has whole seconds, and one more than the TTL needs.
	lasts := (e.cfg.ttl+time.Second-1)/time.Second*time.Second + time.Second
	return []fault{
		{0.15, "paused member", e.pauseFollower(f)},
		{0.35, "crashed holder", f.crash(fmt.Sprintf("its key stays for the %v of its lease in etcd", lasts))},
		{0.62, "killed leader", e.killLeader(f)},
	}
}

func (e *etcd) pauseFollower(f *faults) func(context.Context) (string, error) {
	return e.withLeader(func(ctx context.Context, leader *etcdproc.Member) (string, error) {
		follower := e.cluster.Members[0]
		if follower == leader {
			follower = e.cluster.Members[1]
		}
		return f.disrupt(disruption{
			word: "PAUSE", what: fmt.Sprintf("member %s hangs for %v; %s leads, and goes on", follower.Name(),
				f.brief(), leader.Name()),
			take: follower.Pause, giveBack: follower.Resume, backWord: "RESUME", back: follower.Name() +
				" answers again",
			did: fmt.Sprintf("one of %d hung for", etcdMembers),
		})(ctx)
	})
}

func (e *etcd) killLeader(f *faults) func(context.Context) (string, error) {
	return e.withLeader(func(ctx context.Context, leader *etcdproc.Member) (string, error) {
		return f.disrupt(disruption{
			word: "KILL", what: fmt.Sprintf("%s, which leads, is killed; the other %d have to elect another",
				leader.Name(), etcdMembers-1),
			take: leader.Kill, giveBack: leader.Start, backWord: "START", back: leader.Name() +
				" is started again, on the data it has",
			did: "the leader was gone for",
		})(ctx)
	})
}

// withLeader does something to the cluster once all members serve and one leads.
func (e *etcd) withLeader(do func(context.Context, *etcdproc.Member) (string, error)) func(context.Context) (string,
	error) {
	return func(ctx context.Context) (string, error) {
		for err := e.cluster.Await(ctx); ; {
			if err != nil || ctx.Err() != nil {
				return "", err
			}
			if leader, err := e.cluster.Leader(ctx); err == nil {
				return do(ctx, leader)
			}
			sleep(ctx, patience/10) // there is an election
		}
	}
}

func (e *etcd) scanned() (urls []string, prefix string) { return nil, "" }

func (e *etcd) close() error { return e.cluster.Stop() }
