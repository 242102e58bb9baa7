package systems

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/internal/nodes"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Patience bounds what the demo itself asks of a server.
const Patience = 3 * time.Second

// redisNodes are the Redis servers of one run: the demo's own, or the user's.
type redisNodes struct {
	cfg    Config
	urls   []string
	prefix string
	own    *nodes.Set // nil if they are the user's
}

var _ Backend = (*redisNodes)(nil)

// openRedis starts servers, or makes sure that the user's answer: the lock would
// wait for them for as long as the demo runs.
func openRedis(ctx context.Context, cfg Config) (Backend, error) {
	if len(cfg.Redis) == 0 {
		own, err := nodes.Start(ctx, cfg.Nodes)
		if err != nil {
			return nil, err
		}
		return &redisNodes{cfg: cfg, urls: own.URLs(), prefix: lock.DefaultPrefix, own: own}, nil
	}
	// Random, so that two demos on the same servers never clean up each other's locks.
	var run [2]byte
	_, _ = rand.Read(run[:])
	s := &redisNodes{cfg: cfg, urls: cfg.Redis, prefix: lock.DefaultPrefix + "demo:" +
		hex.EncodeToString(run[:]) + ":"}
	err := s.each(ctx, func(ctx context.Context, node *redis.Client) error {
		if err := node.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("%s does not answer: %w", node.Options().Addr, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *redisNodes) Locker(instance string) (*engine.Engine, error) {
	opts := append(s.cfg.options(instance), lock.WithPrefix(s.prefix))
	if s.own != nil {
		opts = append(opts, s.own.Options()...)
	}
	return redlock.Open(s.urls, opts...)
}

func (s *redisNodes) Describe() []string {
	if s.own != nil && s.own.Embedded() {
		return s.own.Describe()
	}
	if s.own != nil {
		return append(s.own.Describe(),
			"freeze one yourself with kill -STOP, and kill -CONT: with a minority frozen nothing stops")
	}
	return []string{
		fmt.Sprintf("your own %d servers, locks below %s*", len(s.urls), s.prefix),
		"they are not paused and nothing is planted: only the client's fault, a crash, is shown",
	}
}

func (s *redisNodes) Reads() []string {
	var servers []string
	for _, u := range s.urls {
		servers = append(servers, shown(u))
	}
	flags := []string{"--redis", screen.Quoted(strings.Join(servers, ","))}
	if s.prefix != lock.DefaultPrefix {
		flags = append(flags, "--prefix", screen.Quoted(s.prefix))
	}
	return flags
}

func (s *redisNodes) Scanned() (urls []string, prefix string) { return s.urls, s.prefix }

// Close stops servers that were started here, and cleans up those that were not.
func (s *redisNodes) Close() error {
	if s.own != nil {
		return s.own.Stop()
	}
	return s.each(context.Background(), s.cleanUp)
}

// cleanUp deletes what would otherwise end with its TTL: keys of a crashed holder,
// queues and tombstones. Fence counters stay, for they must never go back.
func (s *redisNodes) cleanUp(ctx context.Context, node *redis.Client) error {
	for _, pattern := range []string{s.prefix + "*", "lockscope:*{" + s.prefix + "*"} {
		keys := node.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			if err := node.Unlink(ctx, keys.Val()).Err(); err != nil {
				return fmt.Errorf("clean up %s: %w", node.Options().Addr, err)
			}
		}
		if err := keys.Err(); err != nil {
			return fmt.Errorf("clean up %s: %w", node.Options().Addr, err)
		}
	}
	return nil
}

// each calls do for every node, one after the other.
func (s *redisNodes) each(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	var errs []error
	for _, u := range s.urls {
		opt, err := redlock.ParseURL(u)
		if err != nil {
			return err
		}
		opt.ContextTimeoutEnabled = true
		errs = append(errs, withClient(ctx, opt, do))
	}
	return errors.Join(errs...)
}

func withClient(ctx context.Context, opt *redis.Options, do func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	node := redis.NewClient(opt)
	return errors.Join(do(ctx, node), node.Close())
}

// shown is a server as a command may name it: others on the machine see its arguments.
func shown(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	if u.User.Username() == "" {
		u.User = nil
	}
	return strings.TrimPrefix(u.String(), "redis://")
}
