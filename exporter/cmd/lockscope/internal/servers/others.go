package servers

import (
	"errors"

	"github.com/lockscope/lockscope/lock/contrib/zklock/zkinspect"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdinspect"
	"github.com/lockscope/lockscope/lock/pglock/pginspect"
)

var errPlainZooKeeper = errors.New("a --tls flag is set, but lockscope reads --zookeeper in plain text: leave the flag out")

// maker makes an inspector, and connects to nothing.
type maker func() (Other, error)

// makers has one for each system that is named.
func makers(c *OtherConfig) (all []maker) {
	if c.Postgres != "" {
		all = append(all, func() (Other, error) { return made(pginspect.New(c.postgres())) })
	}
	if len(c.Etcd) > 0 {
		all = append(all, func() (Other, error) { return made(etcdinspect.New(c.etcd())) })
	}
	if len(c.ZooKeeper) > 0 && c.TLS != nil && !c.TLSElsewhere && c.Postgres == "" && len(c.Etcd) == 0 {
		all = append(all, func() (Other, error) { return nil, errPlainZooKeeper })
	} else if len(c.ZooKeeper) > 0 {
		all = append(all, func() (Other, error) { return made(zkinspect.New(c.zookeeper())) })
	}
	return all
}

// made keeps a nil pointer from becoming an Other.
func made[B Other](b B, err error) (Other, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// openOthers makes those that are named, and connects to none.
func openOthers(c *OtherConfig) ([]Other, error) {
	var all []Other
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
