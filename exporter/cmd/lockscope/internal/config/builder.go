package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner"
)

// GroupFlags say which servers to sweep, for what, and where to send findings: by flags, by a
// configuration file, or both. scan and serve have them in common.
type GroupFlags struct {
	servers servers.Flags
	Sweep   SweepFlags
	notify  NotifyFlags
	Config  string

	Set *pflag.FlagSet // in which they were registered
}

// Register adds the flags; maxValues is the default of the flag of that name.
func (f *GroupFlags) Register(set *pflag.FlagSet, maxValues int) {
	f.Set = set
	set.StringVarP(&f.Config, "config", "c", "",
		"configuration `file`: see \"lockscope help config\". It names groups of servers, limits, exclusions and "+
			"notification; flags win over it")
	ui.Group(set, ui.Servers, "config")
	f.servers.Redis.Register(set)
	f.Sweep.Register(set, maxValues)
	f.notify.register(set)
	f.servers.Others.Register(set)
}

// Others reports whether flags name a system beside Redis.
func (f *GroupFlags) Others() bool { return f.servers.Others.Named() }

var (
	errBothServers = errors.New("servers are set both in --config and by --redis (or --redis-file, LOCKSCOPE_REDIS, " +
		"--replica): use one")
	errBothSystems = errors.New("servers are set both in --config and by --postgres, --etcd or --zookeeper: use one")
)

// Load reads the configuration file; without one it is empty.
func (f *GroupFlags) Load() (*File, error) {
	if f.Config == "" {
		return &File{}, nil
	}
	file, err := Load(f.Config)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	if len(file.Groups) > 0 && (f.servers.Redis.Named() || len(f.Sweep.replicas.Values()) > 0) {
		return nil, errBothServers
	}
	if len(file.Groups) > 0 && f.Others() {
		return nil, errBothSystems
	}
	return file, nil
}

// Files are those besides the configuration file that serve reads again when they change.
func (f *GroupFlags) Files(file *File) []string {
	paths := file.Secrets()
	for _, path := range []string{
		f.servers.Redis.Config.PasswordFile, f.servers.Redis.Config.TLS.CA, f.servers.Redis.Config.TLS.Cert, f.servers.Redis.Config.TLS.Key,
	} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return append(paths, f.servers.Others.Files()...)
}

// builder makes groups of flags and a file.
type builder struct {
	*GroupFlags
	app    *ui.App
	file   *File
	sweep  SweepFlags // as the file and the flags have it
	resend time.Duration
	old    Groups // taken over where the new group would be the same
	finish func(g *Group) ([]scanner.Option, error)
}

// Build makes the groups and connects to nothing yet. resend is the time between two
// reports, finish gives options that the command adds to each group's. The caller closes
// the groups that are not of old.
func (f *GroupFlags) Build(a *ui.App, file *File, resend time.Duration, old Groups,
	finish func(*Group) ([]scanner.Option, error)) (Groups, error) {
	b := &builder{f, a, file, f.Sweep.With(file, f.Set), resend, old, finish}
	var made Groups
	err := b.addAll(&made)
	if err == nil {
		err = made.differ()
	}
	if err != nil {
		for _, g := range made {
			if !slices.Contains(old, g) {
				err = errors.Join(err, g.close())
			}
		}
		return nil, err
	}
	return made, nil
}

func (b *builder) addAll(made *Groups) error {
	if err := b.addRedis(made); err != nil {
		return err
	}
	return b.addSystems(made)
}

// addRedis makes the groups of Redis servers, and those of a file. There is none if flags name other systems alone.
func (b *builder) addRedis(made *Groups) error {
	if len(b.file.Groups) == 0 && !b.servers.OnRedis() {
		return nil
	}
	if len(b.file.Groups) == 0 {
		return b.add(made, &FileGroup{}, "", b.openFlags)
	}
	for i := range b.file.Groups {
		g, path := &b.file.Groups[i], fmt.Sprintf("groups[%d]", i)
		if g.System() != servers.Redis {
			if err := b.addOther(made, g, path); err != nil {
				return err
			}
			continue
		}
		for _, part := range independent(g) {
			if err := b.add(made, part, path, func(to *Group) error { return b.openGroup(to, part) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// independent makes a group for each server of those that have nothing to do with each
// other: one's locks are no left-overs of another's.
func independent(g *FileGroup) []*FileGroup {
	if g.Redlock == nil || *g.Redlock {
		return []*FileGroup{g}
	}
	parts := make([]*FileGroup, len(g.Redis))
	for i := range g.Redis {
		part := *g
		part.Redis = g.Redis[i : i+1]
		if len(g.Replicas) > 0 {
			part.Replicas = g.Replicas[i : i+1]
		}
		parts[i] = &part
	}
	return parts
}

// add makes one group, or keeps the old one if it is the same. Errors name the line
// of the file, if there is one.
func (b *builder) add(made *Groups, of *FileGroup, path string, open func(*Group) error) error {
	g := &Group{Name: of.Name, origin: b.origin(of)}
	for _, old := range b.old {
		if old.origin == g.origin {
			*made = append(*made, old)
			return nil
		}
	}
	*made = append(*made, g)
	err := open(g)
	if err == nil {
		err = b.scanner(g, of)
	}
	var problems *Problems
	if err != nil && path != "" && !errors.As(err, &problems) {
		return b.file.Problem(path, err)
	}
	return err
}

func (b *builder) openFlags(g *Group) (err error) {
	if g.Nodes, err = b.servers.Redis.Open(b.app); err != nil {
		return err
	}
	g.Replicas, err = b.sweep.OpenReplicas(b.app, &b.servers.Redis)
	return err
}

func (b *builder) openGroup(to *Group, g *FileGroup) error {
	c, err := b.file.Target(g)
	if err != nil {
		return err
	}
	if to.Nodes, err = c.Open(); err != nil || len(g.Replicas) == 0 {
		return err
	}
	c.URLs = g.Replicas
	to.Replicas, err = c.Open()
	return err
}

func (b *builder) scanner(g *Group, of *FileGroup) error {
	opts, err := b.options(g, of)
	if err != nil {
		return err
	}
	told, err := b.notify.options(b.resend, b.app.Logger)
	if err != nil {
		return err
	}
	notifiers, err := b.file.Notifiers(of, b.resend, b.app.Logger)
	if err != nil {
		return err
	}
	opts = append(append(append(opts, told...), b.file.Options(of)...), scanner.WithGroup(g.Name))
	for _, n := range notifiers {
		opts = append(opts, scanner.WithNotifier(n))
	}
	if of.Redlock != nil && *of.Redlock {
		opts = append(opts, scanner.WithOneRedlock())
	}
	if len(g.Replicas) > 0 {
		opts = append(opts, scanner.WithReplicas(servers.Clients(g.Replicas)...))
	}
	if old := b.old.replacedBy(g); old != nil {
		opts = append(opts, scanner.WithSilenceOf(old.Scanner))
	}
	more, err := b.finish(g)
	if err != nil {
		return err
	}
	if g.System != nil {
		g.Scanner, err = g.System.Scanner(append(opts, more...)...)
		return err
	}
	g.Scanner, err = scanner.New(servers.Clients(g.Nodes), append(opts, more...)...)
	return err
}

// options are those of the flags alone.
func (b *builder) options(g *Group, of *FileGroup) ([]scanner.Option, error) {
	sweep := b.sweep
	if g.System != nil {
		return sweep.SystemOptions(), nil
	}
	if len(sweep.prefixes)+len(sweep.patterns) == 0 {
		sweep.patterns = Globs(b.file.PatternsOf(of))
	}
	return sweep.Options(g.Nodes)
}

// origin is the same for a group that would be made in the same way. It is a hash, for
// secrets are in it.
func (b *builder) origin(g *FileGroup) string {
	rest := *b.file
	rest.Groups = nil
	hash := sha256.New()
	_ = json.NewEncoder(hash).Encode([]any{g, rest, b.resend}) // a hash takes anything
	for _, path := range append(b.Files(b.file.Only(g)), b.servers.Redis.Config.File) {
		text, err := os.ReadFile(path)
		fmt.Fprintf(hash, "%q %v %x\n", path, err, sha256.Sum256(text))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
