package sweep

import (
	"errors"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/scanner"
)

var (
	errConfigOfSystems = errors.New("--config is for Redis only: name --postgres, --etcd and --zookeeper without it")

	errRedisMemory = errors.New("--state redis keeps the memory in Redis: with --postgres, --etcd or --zookeeper, name " +
		"a file")
)

// addSystems makes a group of each system that flags name.
func (b *builder) addSystems(made *Groups) error {
	if !b.Others() {
		return nil
	}
	rules, err := b.sweep.LeakRules()
	if err != nil {
		return err
	}
	all, err := b.others.Systems(b.app, &b.redis, rules) // nothing is connected until a Scanner asks it
	for i := 0; i < len(all) && err == nil; i++ {
		of := &config.Group{Redis: []string{all[i].Config()}} // what its origin is made of
		err = b.add(made, of, "", func(g *Group) error { g.System = all[i]; return nil })
	}
	return err
}

// SystemOptions are those that a system beside Redis has in common with Redis.
func (s *Flags) SystemOptions() []scanner.Option {
	return []scanner.Option{
		scanner.WithConfirmAfter(s.confirmAfter), scanner.WithDeadline(s.Deadline), scanner.WithMaxFindings(s.maxFindings),
	}
}

// Systems are those beside Redis.
func (all Groups) Systems() (systems []*Group) {
	for _, g := range all {
		if g.System != nil {
			systems = append(systems, g)
		}
	}
	return systems
}
