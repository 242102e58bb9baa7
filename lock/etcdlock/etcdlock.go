package etcdlock

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/claims"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/node"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// New returns an engine for the cluster that client connects to. It accepts the options of package
// lock and of this package. It does not contact the cluster. It fails with lock.ErrInvalidOption,
// lock.ErrInvalidTTL or lock.ErrInvalidNode.
//
// Close the engine when you are done with it, then the client, which stays the caller's.
func New(client *clientv3.Client, opts ...lock.Option) (*engine.Engine, error) {
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", lock.ErrInvalidNode)
	}
	base, err := engine.NewSettings(1, opts...)
	if err != nil {
		return nil, err
	}
	s, err := settingsOf(base, settings{fenceKey: DefaultFenceKey})
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	base.Servers = []string{nameOf(client.Endpoints())}
	cluster := store.New(client, base.Clock, base.LongestNodeTimeout())
	n := node.New(base.NodeName(0, base.Servers[0]), cluster, base.Prefix, s.fenceKey, base.MaxTTL)
	e, err := base.NewEngine([]driver.Node{engine.Async(n)})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return e, nil
}

// MutexPrefix returns the prefix with which a plain concurrency.Mutex and an engine of this package exclude
// each other: concurrency.NewMutex(session, MutexPrefix("lock:", resource)). prefix is the engine's. It
// escapes the slashes of the resource: a Mutex takes every key below its prefix for a claim to its lock, so
// "a" would wait for "a/b".
func MutexPrefix(prefix, resource string) string { return claims.MutexPrefix(prefix, resource) }

// nameOf returns the endpoints' host:port, without users.
func nameOf(endpoints []string) string {
	var hosts []string
	for _, e := range endpoints {
		if u, err := url.Parse(e); err == nil && u.Host != "" {
			e = u.Host
		} else if at := strings.LastIndexByte(e, '@'); at >= 0 {
			e = e[at+1:]
		}
		hosts = append(hosts, e)
	}
	return strings.Join(hosts, ",")
}
