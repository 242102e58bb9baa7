package world

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Resource is the label, in the metrics, of the lock that meets every fault.
const Resource = "invoice:*"

const (
	invoice = "invoice:2001"
	printed = "invoice:2002" // always held
	closing = "month-end"    // held as long as possible

	billingTTL = time.Second
	longWait   = 500 * time.Millisecond
)

// billing is a service in trouble: its leases are deleted, its callers give up, and its work takes too long. It locks
// on the demo's nodes, and Prometheus scrapes it.
type billing struct {
	*service
	first  lock.Locker
	second lock.Locker
	admins []*redis.Client
}

func (w *World) startBilling(context.Context) error {
	b := &billing{}
	registry := prometheus.NewRegistry()
	var pools [2]exporter.ConnectionSource
	for i, l := range []*lock.Locker{&b.first, &b.second} {
		engine, err := redlock.Open(w.urls(), lock.WithInstance(fmt.Sprintf("billing-%d", i+1)))
		if err != nil {
			return err
		}
		pools[i] = engine
		if *l, err = w.measure(registry, engine); err != nil {
			return err
		}
	}
	if err := registry.Register(exporter.NewConnectionCollector(pools[:]...)); err != nil {
		return err
	}
	for _, n := range w.nodes {
		c := adminOf(n)
		w.ends = append(w.ends, c.Close)
		b.admins = append(b.admins, c)
	}
	var err error
	if b.service, err = w.startService(registry, b.suffer, b.print, b.closeMonth); err != nil {
		return err
	}
	w.bill = b
	w.cfg.Tell("a service in trouble, %s, resource %s", b.url, Resource)
	return nil
}
