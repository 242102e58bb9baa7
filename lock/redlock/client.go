package redlock

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/lockscope/lockscope/lock"
	"github.com/redis/go-redis/v9"
)

// client is the part of a go-redis client a node needs.
type client interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	Close() error
}

// derived is a client of lockscope's own, made from the caller's.
type derived struct {
	client
	address string // tells two clients of one server apart from two servers; "" if unknown
	name    string
	db      int
	cluster bool
	dials   *dials
}

func (d *derived) Close() error {
	return errors.Join(d.client.Close(), d.dials.close())
}

// derivation is what a derived client gets beside the given one's options.
type derivation struct {
	clock     lock.Clock
	timeout   time.Duration // of one command
	hooks     []redis.Hook
	onConnect redisconn.OnConnect // after the given client's own
}

// limits are what voting needs: no retries, as a retried SET NX refuses its own success,
// and one node timeout for whatever a call may wait for.
func (c derivation) limits() redisconn.Limits {
	return redisconn.Limits{Dial: dialTimeouts * c.timeout, Call: c.timeout, Pool: c.timeout}
}

// derive makes a client with the given one's address, credentials, TLS, dialer
// and process hooks, and with the timeouts and the lack of retries that voting
// needs: a retried SET NX refuses its own success, a client without
// ContextTimeoutEnabled ignores deadlines, and five dial attempts make a node
// that is down look slow.
func derive(given redis.UniversalClient, c derivation) (*derived, error) {
	switch given := given.(type) {
	case *redis.Client:
		if given != nil {
			return deriveStandalone(given, c), nil
		}
	case *redis.ClusterClient:
		if given != nil {
			return deriveCluster(given, c), nil
		}
	case nil:
	default:
		if v := reflect.ValueOf(given); v.Kind() != reflect.Pointer || !v.IsNil() {
			return nil, fmt.Errorf("%w: a %T spreads keys over servers in its own way; "+
				"use a *redis.Client or a *redis.ClusterClient", lock.ErrInvalidNode, given)
		}
	}
	return nil, fmt.Errorf("%w: the client is nil", lock.ErrInvalidNode)
}

func deriveStandalone(given *redis.Client, c derivation) *derived {
	opt := redisconn.Standalone(given, c.limits(), c.onConnect)
	d := &derived{
		dials: newDials(opt.Dialer, lateDialTime(given.Options().DialTimeout)),
		name:  redisconn.Name(opt), db: opt.DB, address: opt.Network + "!" + opt.Addr,
	}
	opt.Dialer = d.dials.connect
	var watch *masterWatch
	if opt.Addr == redisconn.SentinelAddress {
		d.address = ""
		watch = newMasterWatch(d.dials.connect, c.clock, c.timeout)
		opt.Dialer = watch.connect
	}
	own := &batcher{Client: redis.NewClient(opt)}
	for _, h := range c.hooks {
		own.AddHook(h)
	}
	hooked := given.Conn() // the only copy of a client that keeps its hooks
	hooked.AddHook(divert{own})
	d.client = &divertedClient{hooked: hooked, own: own}
	if watch != nil {
		d.client = &masterClient{client: d.client, watch: watch}
	}
	return d
}

// lateDialTime is how long Close waits for a dial that outlived its context: as long
// as a TLS dial of the given client may take.
func lateDialTime(given time.Duration) time.Duration {
	if given <= 0 {
		return maxLateDialTime
	}
	return min(given, maxLateDialTime)
}

const maxLateDialTime = 10 * time.Second

// dialTimeouts is how many node timeouts a connection may take to be made. No call
// waits that long: the connection, slowed down by a TLS handshake perhaps, is there
// for the next.
const dialTimeouts = 4

func deriveCluster(given *redis.ClusterClient, c derivation) *derived {
	opt := redisconn.Cluster(given, c.limits(), c.onConnect)
	if opt.Dialer == nil {
		opt.Dialer = redis.NewDialer(&redis.Options{DialTimeout: given.Options().DialTimeout, TLSConfig: opt.TLSConfig})
	}
	d := &derived{
		dials: newDials(opt.Dialer, lateDialTime(given.Options().DialTimeout)),
		name:  redisconn.ClusterName(opt), cluster: true,
	}
	opt.Dialer = d.dials.connect
	if len(opt.Addrs) > 0 {
		d.address = "cluster!" + opt.Addrs[0]
	}
	own := redis.NewClusterClient(opt)
	for _, h := range c.hooks {
		own.AddHook(h)
	}
	d.client = own
	return d
}

// divertedClient sends commands through the given client's hooks and then, by
// the innermost of them, to lockscope's own connections.
type divertedClient struct {
	hooked *redis.Conn // takes no connection: nothing gets past divert
	own    *batcher
}

func (c *divertedClient) Process(ctx context.Context, cmd redis.Cmder) error {
	return c.hooked.Process(ctx, cmd)
}

func (c *divertedClient) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	return c.own.Subscribe(ctx, channels...)
}

func (c *divertedClient) Close() error { return c.own.Close() }

// divert is the hook that does so.
type divert struct{ own *batcher }

func (h divert) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h divert) ProcessHook(redis.ProcessHook) redis.ProcessHook { return h.own.Process }

// ProcessPipelineHook is never called: lockscope sends no pipelines through the hooks.
func (h divert) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
