package systems

import (
	"errors"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/etcd"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/postgres"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/zookeeper"
)

// open makes the backends that are named, and connects to none.
func open(c *backend.Config) ([]backend.Backend, error) {
	var all []backend.Backend
	var errs []error
	add := func(b backend.Backend, err error) {
		if err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, b)
		}
	}
	if c.Postgres != "" {
		add(postgres.New(c))
	}
	if len(c.Etcd) > 0 {
		add(etcd.New(c))
	}
	if len(c.ZooKeeper) > 0 && c.TLS != nil && !c.TLSElsewhere && c.Postgres == "" && len(c.Etcd) == 0 {
		add(nil, backend.ErrPlainZooKeeper)
	} else if len(c.ZooKeeper) > 0 {
		add(zookeeper.New(c))
	}
	if len(errs) > 0 {
		for _, b := range all {
			b.Close()
		}
		return nil, errors.Join(errs...)
	}
	return all, nil
}
