package top

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

var errBothServers = errors.New("servers are set both in --config and by --redis (or --redis-file, LOCKSCOPE_REDIS): " +
	"use one")

// open makes the source of everything that flags and the configuration file name. It connects to nothing yet.
func (f *topFlags) open(a *ui.App) (src *Source, err error) {
	c := Config{Timeout: f.timeout, Pages: f.page.Values()}
	defer func() {
		if err == nil {
			return
		}
		for _, o := range c.Others {
			o.Close()
		}
		for _, r := range c.Redis {
			servers.Release(r.Nodes)
		}
	}()
	if c.Policy, err = fleet.ParsePolicy(f.pages); err != nil {
		return nil, fmt.Errorf("--pages: %w", err)
	}
	if _, err = config.KeyGlobs(f.prefixes, nil); err != nil {
		return nil, err
	}
	others, err := f.servers.OpenOthers(a, f.prefixes)
	if err != nil {
		return nil, err
	}
	for _, b := range others {
		c.Others = append(c.Others, Other{Name: b.System(), Inspector: b})
	}
	if err = f.openRedis(a, &c); err != nil {
		return nil, err
	}
	return Open(c)
}

func (f *topFlags) openRedis(a *ui.App, c *Config) error {
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
		return f.openGroups(file, c)
	case !f.servers.OnRedis():
		return nil
	}
	nodes, err := f.servers.Redis.Open(a)
	if err != nil {
		return err
	}
	c.Redis = append(c.Redis, Redis{Name: servers.Redis, Nodes: nodes, Globs: f.globsOf(file, nil)})
	return nil
}

// openGroups makes a set of each group, and of each server of a group that is no Redlock.
func (f *topFlags) openGroups(file *config.File, c *Config) error {
	for i := range file.Groups {
		g, open := &file.Groups[i], f.openGroup
		if g.System() != servers.Redis {
			open = f.openOther
		}
		if err := open(file, g, c); err != nil {
			return file.Problem(fmt.Sprintf("groups[%d]", i), err)
		}
	}
	return nil
}

func (f *topFlags) openGroup(file *config.File, g *config.FileGroup, c *Config) error {
	to, err := file.Target(g)
	if err != nil {
		return err
	}
	nodes, err := to.Open()
	c.Redis = append(c.Redis, f.setsOf(file, g, nodes)...)
	return err
}

func (f *topFlags) openOther(file *config.File, g *config.FileGroup, c *Config) error {
	to, err := file.Backend(g)
	if err != nil {
		return servers.InFile(err)
	}
	if len(f.prefixes) > 0 {
		to.Prefixes = f.prefixes
	}
	others, err := servers.OpenFromFile(&to)
	for _, b := range others {
		c.Others = append(c.Others, Other{Name: g.Name, Inspector: b})
	}
	return err
}

func (f *topFlags) setsOf(file *config.File, g *config.FileGroup, nodes []servers.Node) (sets []Redis) {
	globs := f.globsOf(file, g)
	if g.Redlock == nil || *g.Redlock || len(nodes) < 2 {
		return []Redis{{Name: g.Name, Nodes: nodes, Globs: globs}}
	}
	for i := range nodes {
		sets = append(sets, Redis{Name: g.Name + "/" + nodes[i].Name, Nodes: nodes[i : i+1], Globs: globs})
	}
	return sets
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
