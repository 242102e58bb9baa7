package systems

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// etcdMembers is the size of the cluster: one may be away.
const etcdMembers = 3

type etcd struct {
	cfg     Config
	cluster *etcdproc.Cluster
}

var _ Backend = (*etcd)(nil)

func openEtcd(ctx context.Context, cfg Config) (Backend, error) {
	if err := etcdproc.Available(); err != nil {
		return nil, missing(etcdproc.ErrNotInstalled, err)
	}
	cluster, err := etcdproc.Start(ctx, etcdMembers)
	if err != nil {
		return nil, err
	}
	return &etcd{cfg: cfg, cluster: cluster}, nil
}

func (e *etcd) Locker(instance string) (*engine.Engine, error) {
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

func (e *etcd) Describe() []string {
	return []string{
		fmt.Sprintf("a cluster of %d etcd members, for clients at", len(e.cluster.Members)),
		strings.Join(e.cluster.Endpoints(), " "),
	}
}

func (e *etcd) Reads() []string {
	return []string{"--etcd", screen.Quoted(strings.Join(e.cluster.Endpoints(), ","))}
}

func (e *etcd) Faults(f *faults.Faults) []faults.Fault {
	// An etcd lease has whole seconds, and one more than the TTL needs.
	lasts := (e.cfg.TTL+time.Second-1)/time.Second*time.Second + time.Second
	return []faults.Fault{
		{At: 0.15, Name: "paused member", Happen: e.pauseFollower(f)},
		{At: 0.35, Name: "crashed holder", Happen: f.Crash(
			fmt.Sprintf("its key stays for the %v of its lease in etcd", lasts))},
		{At: 0.62, Name: "killed leader", Happen: e.killLeader(f)},
	}
}

func (e *etcd) pauseFollower(f *faults.Faults) func(context.Context) (string, error) {
	return e.withLeader(func(ctx context.Context, leader *etcdproc.Member) (string, error) {
		follower := e.cluster.Members[0]
		if follower == leader {
			follower = e.cluster.Members[1]
		}
		return f.Disrupt(faults.Disruption{
			Word: "PAUSE", What: fmt.Sprintf("member %s hangs for %v; %s leads, and goes on", follower.Name(),
				f.Brief(), leader.Name()),
			Take: follower.Pause, GiveBack: follower.Resume, BackWord: "RESUME", Back: follower.Name() +
				" answers again",
			Did: fmt.Sprintf("one of %d hung for", etcdMembers),
		})(ctx)
	})
}

func (e *etcd) killLeader(f *faults.Faults) func(context.Context) (string, error) {
	return e.withLeader(func(ctx context.Context, leader *etcdproc.Member) (string, error) {
		return f.Disrupt(faults.Disruption{
			Word: "KILL", What: fmt.Sprintf("%s, which leads, is killed; the other %d have to elect another",
				leader.Name(), etcdMembers-1),
			Take: leader.Kill, GiveBack: leader.Start, BackWord: "START", Back: leader.Name() +
				" is started again, on the data it has",
			Did: "the leader was gone for",
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
			workload.Sleep(ctx, Patience/10) // there is an election
		}
	}
}

func (e *etcd) Scanned() (urls []string, prefix string) { return nil, "" }

func (e *etcd) Close() error { return e.cluster.Stop() }
