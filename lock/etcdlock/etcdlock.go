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
	n := newNode(client, base.NodeName(0, nameOf(client.Endpoints())), base, s)
	e, err := base.NewEngine([]driver.Node{engine.Async(n)})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return e, nil
}

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
