package redlock

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/redis/go-redis/v9"
)

// derivation is what a derived client gets beside the given one's options.
type derivation struct {
	clock   engine.Clock
	timeout time.Duration // the longest of any command
	hooks   []redis.Hook
}

// checkClient refuses what is no server, and no set of servers, that lockscope knows.
func checkClient(given redis.UniversalClient) error {
	switch given := given.(type) {
	case *redis.Client:
		if given != nil {
			return nil
		}
	case *redis.ClusterClient:
		if given != nil {
			return nil
		}
	case nil:
	default:
		if v := reflect.ValueOf(given); v.Kind() != reflect.Pointer || !v.IsNil() {
			return fmt.Errorf("%w: a %T spreads keys over servers in its own way; "+
				"use a *redis.Client or a *redis.ClusterClient", lock.ErrInvalidNode, given)
		}
	}
	return fmt.Errorf("%w: the client is nil", lock.ErrInvalidNode)
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

// newCluster derives a cluster client of our own, and says how to name it and where it is.
func newCluster(given *redis.ClusterClient, c derivation, onConnect redisconn.OnConnect) (own *redis.ClusterClient, d *dials, name, address string) {
	limits := redisconn.Limits{Dial: dialTimeouts * c.timeout, Call: c.timeout, Pool: c.timeout}
	opt := redisconn.Cluster(given, limits, onConnect)
	if opt.Dialer == nil {
		opt.Dialer = redis.NewDialer(&redis.Options{DialTimeout: given.Options().DialTimeout, TLSConfig: opt.TLSConfig})
	}
	d = newDials(opt.Dialer, lateDialTime(given.Options().DialTimeout))
	opt.Dialer = d.connect
	if len(opt.Addrs) > 0 {
		address = "cluster!" + opt.Addrs[0]
	}
	own = redis.NewClusterClient(opt)
	for _, h := range c.hooks {
		own.AddHook(h)
	}
	return own, d, redisconn.ClusterName(opt), address
}

// namespaceOf is the number of the database that all clients use; "" if they do not use one.
func namespaceOf(clients []redis.UniversalClient) (number string) {
	for i, given := range clients {
		own := "0" // Redis Cluster has no other
		if c, ok := given.(*redis.Client); ok {
			own = strconv.Itoa(c.Options().DB)
		}
		if i > 0 && own != number {
			return ""
		}
		number = own
	}
	return number
}
