package top

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

var (
	errBothServers = errors.New("servers are set both in --config and by --redis (or --redis-file, LOCKSCOPE_REDIS): " +
		"use one")
	errBadPage = errors.New("--page: not the address of a live page: use http://host:port/debug/locks")
)

// open makes the source of everything that flags and the configuration file name. It connects to nothing yet.
func (f *topFlags) open(a *ui.App) (src *Source, err error) {
	o := &opening{timeout: f.timeout, services: f.guard.Judged()}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	policy, err := fleet.ParsePolicy(f.pages)
	if err != nil {
		return nil, fmt.Errorf("--pages: %w", err)
	}
	if _, err = config.KeyGlobs(f.prefixes, nil); err != nil {
		return nil, err
	}
	others, err := f.servers.OpenOthers(a, f.prefixes)
	if err != nil {
		return nil, err
	}
	o.others("", others)
	if err = f.openRedis(a, o); err != nil {
		return nil, err
	}
	return o.source(f.page.Values(), policy)
}

func (f *topFlags) openRedis(a *ui.App, o *opening) error {
	file := &config.File{}
	if f.config != "" {
		var err error
		if file, err = config.Load(f.config); err != nil {
			return fmt.Errorf("--config: %w", err)
		}
	}
	switch {
	case len(file.Groups) > 0 && f.servers.Redis.Named():
		return errBothServers
	case len(file.Groups) > 0:
		return f.openGroups(file, o)
	case !f.servers.OnRedis():
		return nil
	}
	nodes, err := f.servers.Redis.Open(a)
	if err != nil {
		return err
	}
	return o.redis(servers.Redis, nodes, f.globsOf(file, nil))
}

// openGroups makes a set of each group, and of each server of a group that is no Redlock.
func (f *topFlags) openGroups(file *config.File, o *opening) error {
	for i := range file.Groups {
		g, open := &file.Groups[i], f.openGroup
		if g.System() != servers.Redis {
			open = f.openOther
		}
		if err := open(file, g, o); err != nil {
			return file.Problem(fmt.Sprintf("groups[%d]", i), err)
		}
	}
	return nil
}

func (f *topFlags) openGroup(file *config.File, g *config.FileGroup, o *opening) error {
	to, err := file.Target(g)
	if err != nil {
		return err
	}
	nodes, err := to.Open()
	if err != nil {
		return err
	}
	globs := f.globsOf(file, g)
	if g.Redlock == nil || *g.Redlock || len(nodes) < 2 {
		return o.redis(g.Name, nodes, globs)
	}
	for i := range nodes {
		err = errors.Join(err, o.redis(g.Name+"/"+nodes[i].Name, nodes[i:i+1], globs))
	}
	return err
}

func (f *topFlags) openOther(file *config.File, g *config.FileGroup, o *opening) error {
	to, err := file.Backend(g)
	if err != nil {
		return servers.InFile(err)
	}
	if len(f.prefixes) > 0 {
		to.Prefixes = f.prefixes
	}
	all, err := servers.OpenFromFile(&to)
	o.others(g.Name, all)
	return err
}

// globsOf are those of flags, or of the file.
func (f *topFlags) globsOf(file *config.File, g *config.FileGroup) []string {
	if len(f.prefixes) == 0 && g != nil {
		if globs := config.Globs(file.PatternsOf(g)); len(globs) > 0 {
			return globs
		}
	}
	globs, _ := config.KeyGlobs(f.prefixes, nil) // they were checked
	return globs
}

// opening collects what is to be read.
type opening struct {
	timeout      time.Duration // of one question to a Redis node
	services     guard.Config  // what the services' guards accept
	sets, beside []system      // of Redis, and the other systems
}

func (o *opening) systems() []system { return slices.Concat(o.sets, o.beside) }

func (o *opening) close() {
	for _, one := range o.systems() {
		one.close()
	}
}

// redis adds one set of Redis nodes, which it closes after an error. globs are of lock keys; there is at least one.
func (o *opening) redis(name string, nodes []servers.Node, globs []string) error {
	set, err := newRedisSet(name, nodes, globs, o.timeout, o.services)
	if err == nil {
		o.sets = append(o.sets, set)
	}
	return err
}

// others adds systems beside Redis. name is that of their group; without one each has its own.
func (o *opening) others(name string, all []servers.Other) {
	for _, in := range all {
		o.beside = append(o.beside, &otherSet{called: cmp.Or(name, in.System()), inspector: in})
	}
}

// source reads what was opened, and pages, and connects to nothing yet. The caller closes it.
func (o *opening) source(named []string, policy fleet.Policy) (*Source, error) {
	for _, page := range named {
		if !strings.HasSuffix(strings.TrimSuffix(page, "/"), "/debug/locks") {
			return nil, errBadPage
		}
	}
	p, err := newPages(named, policy)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, one := range o.systems() {
		name := one.first().Name
		if seen[name] {
			return nil, fmt.Errorf("two sets of nodes have the name %q: give each group a name of its own", name)
		}
		seen[name] = true
	}
	return newSource(o.systems(), p), nil
}
