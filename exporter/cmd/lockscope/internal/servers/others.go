package servers

import (
	"errors"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/etcd"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/postgres"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/zookeeper"
)

// maker makes a backend, and connects to nothing.
type maker func() (backend.Backend, error)

// makers has one for each system that is named.
func makers(c *backend.Config) (all []maker) {
	if c.Postgres != "" {
		all = append(all, func() (backend.Backend, error) { return made(postgres.New(c)) })
	}
	if len(c.Etcd) > 0 {
		all = append(all, func() (backend.Backend, error) { return made(etcd.New(c)) })
	}
	if len(c.ZooKeeper) > 0 && c.TLS != nil && !c.TLSElsewhere && c.Postgres == "" && len(c.Etcd) == 0 {
		all = append(all, func() (backend.Backend, error) { return nil, backend.ErrPlainZooKeeper })
	} else if len(c.ZooKeeper) > 0 {
		all = append(all, func() (backend.Backend, error) { return made(zookeeper.New(c)) })
	}
	return all
}

// made keeps a nil pointer from becoming a Backend.
func made[B backend.Backend](b B, err error) (backend.Backend, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// open makes the backends that are named, and connects to none.
func openOthers(c *backend.Config) ([]backend.Backend, error) {
	var all []backend.Backend
	var errs []error
	for _, make := range makers(c) {
		if b, err := make(); err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, b)
		}
	}
	if len(errs) > 0 {
		CloseAll(all)
		return nil, errors.Join(errs...)
	}
	return all, nil
}
