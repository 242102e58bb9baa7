package systems

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

// redsyncServers is how many there are: two may be away.
const redsyncServers = 5

// redsync is five Redis servers with the keys of redsync.
type redsync struct {
	cfg     Config
	servers []*redisproc.Server
}

var _ Backend = (*redsync)(nil)

func openRedsync(ctx context.Context, cfg Config) (Backend, error) {
	servers, err := redisproc.StartN(ctx, redsyncServers)
	if err != nil {
		return nil, err
	}
	return &redsync{cfg: cfg, servers: servers}, nil
}

func (r *redsync) Locker(instance string) (*engine.Engine, error) {
	opts := r.cfg.options(instance)
	var pools []redsyncredis.Pool
	var names []string
	var errs []func() error
	for _, s := range r.servers {
		client := redis.NewClient(&redis.Options{Addr: s.Addr(), ContextTimeoutEnabled: true})
		pools, names = append(pools, goredis.NewPool(client)), append(names, s.Addr())
		opts, errs = append(opts, closing(client.Close)), append(errs, client.Close)
	}
	locker, err := redsynclock.New(pools, append(opts, lock.WithNodeNames(names...))...)
	if err != nil {
		return nil, errors.Join(err, together(errs))
	}
	return locker, nil
}

func (r *redsync) Describe() []string {
	var ports, pids []string
	for _, s := range r.servers {
		ports, pids = append(ports, fmt.Sprint(s.Port())), append(pids, fmt.Sprint(s.PID()))
	}
	return []string{
		fmt.Sprintf("%d redis-server processes on 127.0.0.1, ports %s", len(r.servers), strings.Join(ports, " ")),
		"their pids: " + strings.Join(pids, " "),
		"locks are redsync's: without fencing tokens, and without an order among those who wait",
	}
}

func (r *redsync) Reads() []string {
	var servers []string
	for _, s := range r.servers {
		servers = append(servers, s.Addr())
	}
	return []string{"--redis", screen.Quoted(strings.Join(servers, ","))}
}

// Faults does not restart a server without its data. Such a server would vote at once for
// locks that it forgot, which redsync does not protect against.
func (r *redsync) Faults(f *faults.Faults) []faults.Fault {
	hung, dead := r.servers[1], r.servers[3]
	paused := faults.Disruption{
		Word: "PAUSE", What: fmt.Sprintf("server %s hangs for %v; the other %d go on", hung.Addr(), f.Brief(),
			redsyncServers-1),
		Take: hung.Pause, GiveBack: hung.Resume, BackWord: "RESUME", Back: hung.Addr() + " answers again",
		Did: fmt.Sprintf("one of %d hung for", redsyncServers),
	}
	killed := faults.Disruption{
		Word: "KILL", What: fmt.Sprintf("server %s is killed for good; the other %d go on", dead.Addr(),
			redsyncServers-1),
		Take: dead.Kill, Did: fmt.Sprintf("one of %d was killed; in the first", redsyncServers),
	}
	return []faults.Fault{
		{At: 0.20, Name: "paused server", Happen: f.Disrupt(paused)},
		{At: 0.40, Name: "crashed holder", Happen: f.Crash(fmt.Sprintf("its keys stay for a TTL of %v", r.cfg.TTL))},
		{At: 0.65, Name: "killed server", Happen: f.Disrupt(killed)},
	}
}

func (r *redsync) Scanned() (urls []string, prefix string) { return nil, "" }

func (r *redsync) Close() error {
	var stops []func() error
	for _, s := range r.servers {
		stops = append(stops, s.Stop)
	}
	return together(stops)
}

// together calls all at the same time.
func together(all []func() error) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, do := range all {
		wg.Go(func() { errs[i] = do() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
