package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// sweptAtOnce bounds how many groups are swept or listed at a time: each reads several
// servers at once by itself.
const sweptAtOnce = 8

// Locker takes the lock for which processes take turns.
type Locker interface {
	lock.Locker
	Close() error
}

// Group is servers with a Scanner of their own.
type Group struct {
	Name     string // "" if flags name the servers
	origin   string // of what it was made; the same for the same; a hash
	Nodes    []servers.Node
	Replicas []servers.Node
	System   *servers.System // in place of Nodes; nil for Redis
	Locker   Locker          // of --elect, else nil
	Scanner  *scanner.Scanner
}

// close ends the Scanner, and its connections and those of the group.
func (g *Group) close() error {
	var errs []error
	if g.Scanner != nil {
		errs = append(errs, g.Scanner.Close())
	}
	if g.System != nil {
		g.System.Close()
	}
	if g.Locker != nil {
		errs = append(errs, g.Locker.Close())
	}
	servers.Release(g.Nodes)
	servers.Release(g.Replicas)
	return errors.Join(errs...)
}

// Groups are all servers of a command. It does not change.
type Groups []*Group

// Close ends all of them.
func (all Groups) Close() error {
	errs := make([]error, len(all))
	all.Each(func(i int, g *Group) { errs[i] = g.close() })
	return errors.Join(errs...)
}

// Servers counts those of all of them.
func (all Groups) Servers() (n int) {
	for _, g := range all {
		n += len(g.names())
	}
	return n
}

// differ refuses two servers of one name: metrics and reports could not tell them apart.
func (all Groups) differ() error {
	of := make(map[string]string)
	for _, g := range all {
		for _, name := range g.names() {
			if other, taken := of[name]; taken && g.Name != "" {
				return fmt.Errorf("groups %s and %s both have the server %s: list it once", other, g.Name, name)
			}
			of[name] = g.Name
		}
	}
	return nil
}

// names are those of its servers in reports.
func (g *Group) names() []string {
	if g.System != nil {
		return []string{g.System.Node()}
	}
	return servers.Names(g.Nodes)
}

// replacedBy returns the group of the same servers, such as one with another password; nil if there is none.
func (all Groups) replacedBy(g *Group) *Group {
	for _, old := range all {
		if old.Name == g.Name && slices.Equal(old.names(), g.names()) {
			return old
		}
	}
	return nil
}

// Each does something for every group, for some at a time.
func (all Groups) Each(do func(i int, g *Group)) {
	slots := make(chan struct{}, sweptAtOnce)
	var wg sync.WaitGroup
	for i, g := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i, g)
		})
	}
	wg.Wait()
}

// Sweep returns the groups' reports, in their order, and the joined error.
func (all Groups) Sweep(ctx context.Context) ([]report.Report, error) {
	reports, errs := make([]report.Report, len(all)), make([]error, len(all))
	all.Each(func(i int, g *Group) { reports[i], errs[i] = g.Scanner.Sweep(ctx) })
	return reports, errors.Join(errs...)
}

// Snapshot implements exporter.Snapshotter.
func (all Groups) Snapshot() scanner.Snapshot {
	snapshots := make([]scanner.Snapshot, len(all))
	for i, g := range all {
		snapshots[i] = g.Scanner.Snapshot()
	}
	return scanner.MergeSnapshots(snapshots...)
}

// Sets names the groups as sets of nodes: in each, a resource's name is another lock. The only one has no name.
func (all Groups) Sets() []string {
	names, times := make([]string, len(all)), make(map[string]int)
	if len(all) == 1 {
		return names
	}
	for i, g := range all {
		system := "redis"
		if g.System != nil {
			system = g.System.Backend()
		}
		names[i] = cmp.Or(g.Name, system)
		times[names[i]]++
	}
	for i, g := range all {
		if times[names[i]] > 1 { // the servers of a group are independent of each other
			names[i] = g.names()[0]
		}
	}
	return names
}

// Start begins the sweeps of those that sweep by themselves.
func (all Groups) Start() error {
	for _, g := range all {
		if err := g.Scanner.Start(); err != nil && !errors.Is(err, scanner.ErrStarted) {
			return err
		}
	}
	return nil
}

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
