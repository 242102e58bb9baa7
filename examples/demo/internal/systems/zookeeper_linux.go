package systems

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/engine"
)

// zkServers is the size of the ensemble: one may be away.
const zkServers = 3

// zookeeper is an ensemble of ZooKeeper.
type zookeeper struct {
	cfg      Config
	ensemble *zkproc.Ensemble
}

var _ Backend = (*zookeeper)(nil)

func openZooKeeper(ctx context.Context, cfg Config) (Backend, error) {
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

// Locker uses the shortest sessions that the TTL permits: after a crash, the others wait
// for the end of the holder's session.
func (z *zookeeper) Locker(instance string) (*engine.Engine, error) {
	return zklock.New(z.ensemble.Addrs(), append(z.cfg.options(instance), lock.WithMaxTTL(z.cfg.TTL))...)
}

func (z *zookeeper) Describe() []string {
	return []string{
		fmt.Sprintf("an ensemble of %d ZooKeeper servers, for clients at", len(z.ensemble.Servers)),
		strings.Join(z.ensemble.Addrs(), " "),
	}
}

func (z *zookeeper) Reads() []string {
	return []string{"--zookeeper", screen.Quoted(strings.Join(z.ensemble.Addrs(), ","))}
}

func (z *zookeeper) Faults(f *faults.Faults) []faults.Fault {
	return []faults.Fault{
		{At: 0.15, Name: "killed server", Happen: z.killFollower(f)},
		{At: 0.35, Name: "crashed holder", Happen: f.Crash(
			fmt.Sprintf("its node stays until its session of %v is over", 2*z.cfg.TTL))},
		{At: 0.62, Name: "paused leader", Happen: z.pauseLeader(f)},
	}
}

func (z *zookeeper) killFollower(f *faults.Faults) func(context.Context) (string, error) {
	return z.withLeader(func(ctx context.Context, leader *zkproc.Server) (string, error) {
		follower := z.others(leader)[0]
		return f.Disrupt(faults.Disruption{
			Word: "KILL", What: fmt.Sprintf("server %s is killed; its sessions go on at the other %d", follower.Addr(),
				zkServers-1),
			Take: follower.Kill, GiveBack: follower.Start, BackWord: "START", Back: follower.Addr() +
				" is started again, on the data it has",
			Did: fmt.Sprintf("one of %d was gone for", zkServers),
		})(ctx)
	})
}

func (z *zookeeper) pauseLeader(f *faults.Faults) func(context.Context) (string, error) {
	return z.withLeader(func(ctx context.Context, leader *zkproc.Server) (string, error) {
		return f.Disrupt(faults.Disruption{
			Word: "PAUSE", What: fmt.Sprintf("%s, which leads, hangs for %v: the others wait for it, or elect another",
				leader.Addr(), f.Brief()),
			Take: leader.Pause, GiveBack: leader.Resume, BackWord: "RESUME", Back: leader.Addr() + " answers again",
			Did: "the leader hung for", Seen: func() string { return z.elected(leader) },
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
func (z *zookeeper) withLeader(do func(context.Context, *zkproc.Server) (string, error)) func(context.Context) (
	string, error) {
	return func(ctx context.Context) (string, error) {
		for err := z.ensemble.Await(ctx); ; {
			if err != nil || ctx.Err() != nil {
				return "", err
			}
			if leader, err := z.ensemble.Leader(); err == nil {
				return do(ctx, leader)
			}
			workload.Sleep(ctx, Patience/10) // there is an election
		}
	}
}

func (z *zookeeper) Scanned() (urls []string, prefix string) { return nil, "" }

func (z *zookeeper) Close() error { return z.ensemble.Stop() }
