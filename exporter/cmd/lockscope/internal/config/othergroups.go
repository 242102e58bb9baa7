package config

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

var (
	errRedisMemory = errors.New("--state redis keeps the memory in Redis: with --postgres, --etcd or --zookeeper, name " +
		"a file")
)

// addSystems makes a group of each system that flags name.
func (b *builder) addSystems(made *Groups) error {
	if !b.Others() {
		return nil
	}
	rules, err := b.sweep.Rules()
	if err != nil {
		return err
	}
	all, err := b.servers.Systems(b.app, rules) // nothing is connected until a Scanner asks it
	for i := 0; i < len(all) && err == nil; i++ {
		of := &FileGroup{Redis: []string{all[i].Backend(), all[i].Node()}} // for its origin, with files of secrets
		err = b.add(made, of, "", func(g *Group) error { g.System = all[i]; return nil })
	}
	return err
}

// addOther makes a group of a system that the file names.
func (b *builder) addOther(made *Groups, of *FileGroup, path string) error {
	return b.add(made, of, path, func(g *Group) error {
		rules, err := b.rulesOf(of)
		if err != nil {
			return err
		}
		c, err := b.file.Backend(of)
		if err != nil {
			return servers.InFile(err)
		}
		g.System, err = servers.FromFile(&c, rules)
		return err
	})
}

// rulesOf are those of the flags, and where they were not given those of the group, which win over the file's.
func (b *builder) rulesOf(g *FileGroup) (*inspect.Rules, error) {
	r, err := b.sweep.Rules()
	if err != nil {
		return nil, err
	}
	for flag, limit := range map[string]struct {
		to   *time.Duration
		from Duration
	}{"max-ttl": {&r.MaxTTL, g.MaxTTL}, "max-hold": {&r.MaxHold, g.MaxHold}, "max-term": {&r.MaxTerm, g.MaxTerm}} {
		if limit.from != 0 && !b.Set.Changed(flag) {
			*limit.to = time.Duration(limit.from)
		}
	}
	if len(r.Prefixes) == 0 {
		r.Prefixes = g.Prefixes
	}
	r.Schema = g.Schema != ""
	return r, nil
}

// SystemOptions are those that a system beside Redis has in common with Redis.
func (s *SweepFlags) SystemOptions() []scanner.Option {
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
