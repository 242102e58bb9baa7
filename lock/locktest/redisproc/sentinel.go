package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// MasterName is what a [Sentinel] calls the master it watches.
const MasterName = "mymaster"

// sentinelConf is a file because sentinels take no such settings on the command line and keep their state in it.
const sentinelConf = `port %d
bind 127.0.0.1
protected-mode yes
daemonize no
sentinel monitor ` + MasterName + ` 127.0.0.1 %d 1
sentinel down-after-milliseconds ` + MasterName + ` 500
sentinel failover-timeout ` + MasterName + ` 2000
`

// Sentinel is one Redis Sentinel process that decides alone (quorum 1) and soon (half a second) that its master is down
// and makes the replica the master then.
type Sentinel struct {
	server *Server
}

// StartSentinel makes replica a replica of master, starts a sentinel that watches master, and returns when a failover
// would succeed: the replica is in sync and the sentinel knows it. Bounds and errors are those of [Start]. After an
// error the replica may already be one. Stopping the two servers stays with the caller.
func StartSentinel(ctx context.Context, master, replica *Server) (*Sentinel, error) {
	if err := replicate(ctx, master, replica); err != nil {
		return nil, fmt.Errorf("redisproc: replicate: %w", err)
	}
	server, err := Start(ctx, watching(master))
	if err != nil {
		return nil, err
	}
	s := &Sentinel{server: server}
	client := redis.NewSentinelClient(&redis.Options{Addr: s.Addr(), PoolSize: 1, MaxRetries: -1,
		DisableIdentity: true})
	defer client.Close()
	err = poll(ctx, nil, func(ctx context.Context) error { return checkKnown(ctx, client, replica) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("redisproc: sentinel: %w", err), s.Stop())
	}
	return s, nil
}

// watching turns a server into a sentinel.
func watching(master *Server) Option {
	return func(c *config) {
		c.prepare = func(dir string, port int) ([]string, error) {
			conf := fmt.Sprintf(sentinelConf, port, master.port)
			err := os.WriteFile(filepath.Join(dir, "sentinel.conf"), []byte(conf), 0o600)
			return []string{"sentinel.conf", "--sentinel"}, err
		}
	}
}

// replicate returns when the replica is in sync.
func replicate(ctx context.Context, master, replica *Server) error {
	m, r := adminClient(master), adminClient(replica)
	defer m.Close()
	defer r.Close()
	if err := sendAtOnce(ctx, m); err != nil {
		return err
	}
	if err := r.Do(ctx, "REPLICAOF", loopback, strconv.Itoa(master.port)).Err(); err != nil {
		return err
	}
	return awaitSync(ctx, r)
}

// sendAtOnce makes a master send its data at once. By default it waits 5 seconds for more replicas.
func sendAtOnce(ctx context.Context, master *redis.Client) error {
	return master.ConfigSet(ctx, "repl-diskless-sync-delay", "0").Err()
}

// awaitSync returns when the replica has its master's data.
func awaitSync(ctx context.Context, replica *redis.Client) error {
	return poll(ctx, nil, func(ctx context.Context) error {
		info, err := replica.Info(ctx, "replication").Result()
		if err == nil && !strings.Contains(info, "master_link_status:up") {
			err = errors.New("replica is not in sync")
		}
		return err
	})
}

// checkKnown returns nil if the sentinel has talked to the replica and would promote it.
func checkKnown(ctx context.Context, sentinel *redis.SentinelClient, replica *Server) error {
	known, err := sentinel.Replicas(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	for _, r := range known {
		if r["port"] == strconv.Itoa(replica.port) && r["flags"] == "slave" && r["master-link-status"] == "ok" {
			return nil
		}
	}
	return fmt.Errorf("the replica is not among those known: %v", known)
}

// Addr returns the sentinel's own address, as redis.FailoverOptions.SentinelAddrs wants it.
func (s *Sentinel) Addr() string { return s.server.Addr() }

// Stop stops the sentinel, not the servers it watches, like [Server.Stop].
func (s *Sentinel) Stop() error { return s.server.Stop() }

// Pause stops the sentinel like [Server.Pause].
func (s *Sentinel) Pause() error { return s.server.Pause() }

// Resume lets a paused sentinel go on.
func (s *Sentinel) Resume() error { return s.server.Resume() }
