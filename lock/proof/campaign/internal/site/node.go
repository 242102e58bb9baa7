//go:build linux

package site

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sys/unix"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/wallclock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Node is one redis-server that keeps its data over a restart.
type Node struct {
	Name   string
	Server *redisproc.Server
	Clock  *wallclock.Clock

	admin *redis.Client // without a proxy
}

// adminTime is how long an administrator's command may take; a node may be very busy.
const adminTime = 10 * time.Second

func startNode(ctx context.Context, shim *wallclock.Shim, name string) (*Node, error) {
	clock, err := shim.New(name)
	if err != nil {
		return nil, err
	}
	// No rewriting, so that a disk can be copied at any time. Replicas need not wait for others.
	server, err := redisproc.Start(ctx, redisproc.WithEnv(clock.Env()...), redisproc.WithArgs(
		"--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0",
		"--repl-diskless-sync-delay", "0"))
	if err != nil {
		return nil, errors.Join(err, clock.Close())
	}
	n := &Node{Name: name, Server: server, Clock: clock}
	n.admin = redis.NewClient(&redis.Options{
		Addr: server.Addr(), MaxRetries: 2, DialTimeout: adminTime, ReadTimeout: adminTime, PoolSize: 2,
	})
	return n, nil
}

// Do sends an administrator's command.
func (n *Node) Do(ctx context.Context, args ...any) error {
	if err := n.admin.Do(ctx, args...).Err(); err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("%s: %v: %w", n.Name, args[0], err)
	}
	return nil
}

// Info is what the node says of itself.
func (n *Node) Info(ctx context.Context, section string) (string, error) {
	return n.admin.Info(ctx, section).Result()
}

// HasOwnMarker reports that what the node carries as proof that it remembers is its own,
// and no copy of another's.
func (n *Node) HasOwnMarker(ctx context.Context) (bool, error) {
	info, err := n.admin.Info(ctx, "server").Result()
	if err != nil {
		return false, err
	}
	text, err := n.admin.Get(ctx, guard.MarkerKey).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	m, ok := guard.ParseMarker(text)
	return ok && m.RunID == redisinfo.Parse(info).RunID(), nil
}

// disk is where the server keeps what it stores, below its directory.
const disk = "appendonlydir"

// CopyDisk copies what the server has stored to a directory.
func (n *Node) CopyDisk(to string) error {
	from := filepath.Join(n.Server.Dir(), disk)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

// ReplaceDisk puts a copy in the place of what the server had stored. The server must not run.
func (n *Node) ReplaceDisk(from string) error {
	if err := n.Server.Wipe(); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(n.Server.Dir(), disk), os.DirFS(from))
}

// FillDisk makes every write to disk beyond what is stored fail, as on a full disk, or no
// longer: the server's files may not grow. The server must run.
func (n *Node) FillDisk(full bool) error {
	limit := unix.Rlimit{Cur: math.MaxUint64, Max: math.MaxUint64}
	if full {
		limit.Cur = 0
		files, err := filepath.Glob(filepath.Join(n.Server.Dir(), disk, "*.aof"))
		if err != nil {
			return err
		}
		for _, name := range files {
			if info, err := os.Stat(name); err == nil {
				limit.Cur = max(limit.Cur, uint64(info.Size()))
			}
		}
	}
	if err := unix.Prlimit(n.Server.PID(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		return fmt.Errorf("%s: limit of the file size: %w", n.Name, err)
	}
	return nil
}

func (n *Node) locks(ctx context.Context) (left []Leftover, err error) {
	keys := n.admin.Scan(ctx, 0, lock.DefaultPrefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		ttl, err := n.admin.PTTL(ctx, keys.Val()).Result()
		if err != nil {
			return left, fmt.Errorf("%s: %w", n.Name, err)
		}
		if ttl != -2 { // it is gone by now
			left = append(left, Leftover{n.Name, keys.Val(), ttl})
		}
	}
	if err := keys.Err(); err != nil {
		return left, fmt.Errorf("%s: %w", n.Name, err)
	}
	return left, nil
}

func (n *Node) close() error {
	return errors.Join(n.admin.Close(), n.Server.Stop(), n.Clock.Close())
}
