package main

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// servers are real redis-server processes, and the way to them.
type servers struct {
	processes []*redisproc.Server
	proxies   []*netfault.Proxy
	addrs     []string // what clients dial
}

// startServers starts n servers. With a round trip to add, clients reach them through
// proxies, which live in this process and take their share of it. On error nothing is
// left behind.
func startServers(ctx context.Context, n int, rtt time.Duration) (*servers, error) {
	processes, err := redisproc.StartN(ctx, n)
	if err != nil {
		return nil, err
	}
	s := &servers{processes: processes}
	for _, p := range processes {
		addr := p.Addr()
		if rtt > 0 {
			if addr, err = s.slow(addr, rtt); err != nil {
				return nil, errors.Join(err, s.Close())
			}
		}
		s.addrs = append(s.addrs, addr)
	}
	return s, nil
}

func (s *servers) slow(addr string, rtt time.Duration) (string, error) {
	proxy, err := netfault.Listen(addr)
	if err != nil {
		return "", err
	}
	proxy.SetDelay(rtt / 2) // in each direction
	s.proxies = append(s.proxies, proxy)
	return proxy.Addr(), nil
}

// Close ends proxies and servers.
func (s *servers) Close() error {
	var errs []error
	for _, p := range s.proxies {
		errs = append(errs, p.Close())
	}
	for _, p := range s.processes {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}
