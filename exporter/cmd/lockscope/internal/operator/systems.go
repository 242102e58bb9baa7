package operator

import (
	"errors"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

var (
	errOneSystem = errors.New("a plan is for one system: name Redis servers, --postgres, --etcd or --zookeeper, and " +
		"make a plan for each")
	errAction = errors.New("--action is for Redis: leave it out with --postgres, --etcd and --zookeeper")
)

// scannerOf makes a Scanner of the system beside Redis that the flags name; done closes it.
func scannerOf(a *ui.App, f *servers.Flags, r *inspect.Rules, opts ...scanner.Option) (s *scanner.Scanner, done func(),
	err error) {
	all, err := f.Systems(a, r)
	if err == nil && (len(all) != 1 || f.Redis.Named()) {
		err = errOneSystem
	}
	if err == nil {
		s, err = all[0].Scanner(opts...)
	}
	done = func() {
		if s != nil {
			_ = s.Close()
		}
		for _, one := range all {
			one.Close()
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}
