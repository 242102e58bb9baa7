package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/zklock"
	"github.com/lockscope/lockscope/lock/zklock/zkproc"
)

// zkServers is the size of the ensemble: one may be away.
const zkServers = 3

// zookeeper is an ensemble of ZooKeeper.
type zookeeper struct {
	cfg      config
	ensemble *zkproc.Ensemble
}

var _ backend = (*zookeeper)(nil)

func openZooKeeper(ctx context.Context, cfg config) (backend, error) {
	if err := zkproc.Available(); err != nil {
		return nil, missing(zkproc.ErrNotInstalled, err)
	}
	// A hung leader must be detected within the run: after four ticks.
	ensemble, err := zkproc.Start(ctx, zkServers, zkproc.WithSettings("syncLimit=4"))
	if err != nil {
		return nil, err
	}
	return &zookeeper{cfg: cfg, ensemble: ensemble}, nil
}

// locker uses the shortest sessions that the TTL permits: after a crash, the others wait
// for the end of the holder's session.
func (z *zookeeper) locker(instance string) (*engine.Engine, error) {
	return zklock.New(z.ensemble.Addrs(), append(z.cfg.options(instance), lock.WithMaxTTL(z.cfg.ttl))...)
}

func (z *zookeeper) describe() []string {
	return []string{
		fmt.Sprintf("an ensemble of %d ZooKeeper servers, for clients at", len(z.ensemble.Servers)),
		strings.Join(z.ensemble.Addrs(), " "),
	}
}

func (z *zookeeper) reads() []string {
	return []string{"--zookeeper", quoted(strings.Join(z.ensemble.Addrs(), ","))}
}

func (z *zookeeper) faults(f *faults) []fault {
	return []fault{
		{0.15, "killed server", z.killFollower(f)},
		{0.35, "crashed holder", f.crash(fmt.Sprintf("its node stays until its session of %v is over", 2*z.cfg.ttl))},
		{0.62, "paused leader", z.pauseLeader(f)},
	}
}

func (z *zookeeper) killFollower(f *faults) func(context.Context) (string, error) {
	return z.withLeader(func(ctx context.Context, leader *zkproc.Server) (string, error) {
		follower := z.others(leader)[0]
		return f.disrupt(disruption{
			word: "KILL", what: fmt.Sprintf("server %s is killed; its sessions go on at the other %d", follower.Addr(),
				zkServers-1),
			take: follower.Kill, giveBack: follower.Start, backWord: "START", back: follower.Addr() +
				" is started again, on the data it has",
			did: fmt.Sprintf("one of %d was gone for", zkServers),
		})(ctx)
	})
}

func (z *zookeeper) pauseLeader(f *faults) func(context.Context) (string, error) {
	return z.withLeader(func(ctx context.Context, leader *zkproc.Server) (string, error) {
		return f.disrupt(disruption{
			word: "PAUSE", what: fmt.Sprintf("%s, which leads, hangs for %v: the others wait for it, or elect another",
				leader.Addr(), f.brief()),
			take: leader.Pause, giveBack: leader.Resume, backWord: "RESUME", back: leader.Addr() + " answers again",
			did: "the leader hung for", seen: func() string { return z.elected(leader) },
		})(ctx)
	})
}

// elected says who leads in the place of one that hangs.
func (z *zookeeper) elected(old *zkproc.Server) string {
	for _, s := range z.others(old) {
		if mode, err := s.Mode(); err == nil && mode == "leader" {
			return fmt.Sprintf("; by then %s led", s.Addr())
		}
	}
	return "; nobody was elected in its place by then"
}

func (z *zookeeper) others(than *zkproc.Server) []*zkproc.Server {
	return slices.DeleteFunc(slices.Clone(z.ensemble.Servers), func(s *zkproc.Server) bool { return s == than })
}

// withLeader does something to the ensemble once all servers serve and one leads.
func (z *zookeeper) withLeader(do func(context.Context, *zkproc.Server) (string, error)) func(context.Context) (string,
	error) {
	return func(ctx context.Context) (string, error) {
		for err := z.ensemble.Await(ctx); ; {
			if err != nil || ctx.Err() != nil {
				return "", err
			}
			if leader, err := z.ensemble.Leader(); err == nil {
				return do(ctx, leader)
			}
			sleep(ctx, patience/10) // there is an election
		}
	}
}

func (z *zookeeper) scanned() (urls []string, prefix string) { return nil, "" }

func (z *zookeeper) close() error { return z.ensemble.Stop() }
