package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

// SweepFlags say what is looked for and how gently. scan and serve have them in common.
type SweepFlags struct {
	prefixes        []string
	patterns        []string
	allowEmpty      bool
	checks          *ui.List
	maxTTL, maxHold time.Duration
	maxTerm         time.Duration
	confirmAfter    time.Duration
	pageSize        int
	pause           ui.Optional
	Deadline        time.Duration
	maxFindings     int
	maxValues       int
	maxWatched      int
	replicas        *ui.List
	redlock         bool
}

// Register adds the flags; maxValues is the default of the flag of that name.
func (s *SweepFlags) Register(set *pflag.FlagSet, maxValues int) {
	s.checks, s.replicas = ui.NewList("class", ClassNames()...), ui.NewList("URL")
	set.StringArrayVar(&s.prefixes, "prefix", nil,
		"read keys that begin with this `text` (default "+lock.DefaultPrefix+"). Repeat it for several. "+
			"With --pattern there is no default")
	set.StringArrayVar(&s.patterns, "pattern", nil,
		"read keys that match this `glob` of Redis. Repeat it for several. Each one costs a pass through all keys")
	set.Var(s.checks, "checks",
		"classes of findings to look for (default all). Orphans are looked for only if the servers prove to be all "+
			"nodes of one Redlock, or --redlock says so")
	set.DurationVar(&s.maxTTL, "max-ttl", scanner.DefaultTTLLimit, "report longer TTLs: long_ttl")
	set.DurationVar(&s.maxHold, "max-hold", scanner.DefaultHoldLimit,
		"report longer holds: held_too_long")
	set.DurationVar(&s.maxTerm, "max-term", 0,
		"report leaders of elections that have led for longer: held_too_long. 0 sets no limit; --max-hold does not apply")
	set.BoolVar(&s.redlock, "redlock", false, "treat the servers as all nodes of one Redlock without proof. "+
		"If they are not, every healthy lock is reported as an orphan. Locks of other libraries are compared only with it")
	set.BoolVar(&s.allowEmpty, "allow-empty", false, "treat a sweep that matches no key as complete")
	set.DurationVar(&s.confirmAfter, "confirm-after", scanner.DefaultConfirmAfter,
		"time until the second look that confirms a finding. 0 looks again at once, and reports locks between SETNX "+
			"and EXPIRE")
	set.IntVar(&s.pageSize, "page-size", scanner.DefaultPageSize,
		"keys per SCAN call (COUNT), at most. The server answers nobody else meanwhile")
	set.Var(&s.pause, "pause", "fixed pause after each page of a server. 0 is fastest, with the highest load. "+
		"Without it, pages and pauses adapt to the latency of the server")
	set.DurationVar(&s.Deadline, "deadline", scanner.DefaultDeadline,
		"longest time for a sweep. A sweep that reaches it is truncated")
	set.IntVar(&s.maxFindings, "max-findings", scanner.DefaultMaxFindings,
		"number of findings to keep. The worst are kept; the others are only counted")
	set.IntVar(&s.maxValues, "max-values", maxValues,
		"values to read per server and sweep, in turns; 0 reads all")
	set.IntVar(&s.maxWatched, "max-watched", scanner.DefaultMaxWatched,
		"holders to remember per server, of libraries that do not record when they took a lock")
	set.Var(s.replicas, "replica", "replica to read pages from. Give one for each --redis, in the same order")
	ui.Group(set, ui.Servers, "replica")
	ui.Group(set, ui.Search, "prefix", "pattern", "checks", "max-ttl", "max-hold", "max-term", "redlock",
		"allow-empty", "confirm-after")
	ui.Group(set, ui.Load, "page-size", "pause", "deadline", "max-findings", "max-values", "max-watched")
}

var errNoPrefix = errors.New("--prefix is empty: to read every key, use --pattern '*'")

func (s *SweepFlags) classes() ([]inspect.Class, error) {
	return ParseClasses("checks", s.checks.Values())
}

// ParseClasses are the classes that a flag names.
func ParseClasses(flag string, names []string) ([]inspect.Class, error) {
	classes := make([]inspect.Class, 0, len(names))
	for _, name := range names {
		if !slices.Contains(ClassNames(), name) {
			return nil, fmt.Errorf("--%s: unknown class %q: use %s", flag, name,
				strings.Join(ClassNames(), ", "))
		}
		classes = append(classes, inspect.Class(name))
	}
	return classes, nil
}

// Options checks nothing that scanner.New checks.
func (s *SweepFlags) Options(nodes []servers.Node) ([]scanner.Option, error) {
	classes, err := s.classes()
	if err != nil {
		return nil, err
	}
	opts := []scanner.Option{
		scanner.WithTTLLimit(s.maxTTL), scanner.WithHoldLimit(s.maxHold), scanner.WithTermLimit(s.maxTerm),
		scanner.WithConfirmAfter(s.confirmAfter), scanner.WithPageSize(s.pageSize),
		scanner.WithDeadline(s.Deadline), scanner.WithMaxFindings(s.maxFindings), scanner.WithMaxWatched(s.maxWatched),
	}
	if s.pause.Given {
		opts = append(opts, scanner.WithPause(s.pause.Value))
	}
	if s.checks.Given() {
		opts = append(opts, scanner.WithChecks(classes...))
	}
	if s.redlock {
		opts = append(opts, scanner.WithOneRedlock())
	}
	globs, err := KeyGlobs(s.prefixes, s.patterns)
	if err != nil {
		return nil, err
	}
	opts = append(opts, scanner.WithPatterns(globs...))
	if s.allowEmpty {
		opts = append(opts, scanner.WithEmptyAllowed())
	}
	if s.maxValues == 0 {
		opts = append(opts, scanner.WithMaxValues(scanner.AllValues))
	} else {
		opts = append(opts, scanner.WithMaxValues(s.maxValues))
	}
	return append(opts, scanner.WithNodeNames(servers.Names(nodes)...)), nil
}

var errNoPattern = errors.New("--pattern is a glob of Redis: for PostgreSQL, etcd and ZooKeeper use --prefix")

// Rules are the same limits for systems beside Redis.
func (s *SweepFlags) Rules() (*inspect.Rules, error) {
	checks, err := s.classes()
	switch {
	case err != nil:
		return nil, err
	case len(s.patterns) > 0:
		return nil, errNoPattern
	case slices.Contains(s.prefixes, ""):
		return nil, errNoPrefix
	}
	return &inspect.Rules{
		Classes: checks, MaxTTL: s.maxTTL, MaxHold: s.maxHold, MaxTerm: s.maxTerm,
		Orphans: s.checks.Given() && slices.Contains(checks, inspect.Orphan), Prefixes: s.prefixes,
		AllowEmpty: s.allowEmpty, Most: s.maxFindings,
	}, nil
}

// KeyGlobs are the patterns of all prefixes and patterns given: none replaces another.
func KeyGlobs(prefixes, patterns []string) ([]string, error) {
	if slices.Contains(prefixes, "") {
		return nil, errNoPrefix
	}
	var globs []string
	for _, p := range prefixes {
		globs = append(globs, scanner.PrefixPattern(p))
	}
	globs = append(globs, patterns...)
	if len(globs) == 0 {
		globs = []string{scanner.PrefixPattern(lock.DefaultPrefix)}
	}
	return globs, nil
}

// OpenReplicas makes clients for the replicas, with the credentials and TLS of the
// nodes. The caller closes them.
func (s *SweepFlags) OpenReplicas(a *ui.App, r *servers.RedisFlags) ([]servers.Node, error) {
	urls := s.replicas.Values()
	if len(urls) == 0 {
		return nil, nil
	}
	if r.Config.Cluster || r.Config.SentinelMaster != "" {
		return nil, fmt.Errorf("%w: --replica with --cluster or --sentinel-master", servers.ErrConflict)
	}
	nodes, err := r.OpenURLs(a, urls)
	if err != nil {
		return nil, fmt.Errorf("--replica: %w", err)
	}
	return nodes, nil
}

// Values of --state that are no file.
const (
	stateOff   = "off"
	stateRedis = "redis"
)

// ElectResource is what processes of --elect take turns in: sweeping.
const ElectResource = "scanner"

// MemoryFlag says where is kept what sweeps know of holders and findings.
type MemoryFlag string

// Register adds the flag; unless is what the help says more of its default.
func (m *MemoryFlag) Register(set *pflag.FlagSet, unless string) {
	set.StringVar((*string)(m), "state", "",
		"`place` to remember holders and findings: a file, redis or off. "+
			"redis and redis:NAME use a key below lockscope:scanner:memory: on the servers"+unless)
	ui.Group(set, ui.Result, "state")
}

// Options are none if nothing is to be kept; elected says that several processes take turns.
func (m MemoryFlag) Options(g *Group, elected bool) ([]scanner.Option, error) {
	place, nodes := string(m), g.Nodes
	if place == "" && elected && g.System == nil { // a system has none to share
		place = stateRedis
	}
	kind, name, named := strings.Cut(place, ":")
	switch {
	case place == "" || place == stateOff:
		return nil, nil
	case kind == stateRedis && g.System != nil:
		return nil, errRedisMemory
	case place == stateRedis:
		return []scanner.Option{scanner.WithMemory(scanner.RedisStore(servers.Clients(nodes), ElectResource))}, nil
	case kind == stateRedis && named && name == "":
		return nil, errors.New("--state redis: has no name: use redis, or redis:NAME")
	case kind == stateRedis && named:
		return []scanner.Option{scanner.WithMemory(scanner.RedisStore(servers.Clients(nodes), name))}, nil
	}
	if dir, err := os.Stat(filepath.Dir(place)); err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	} else if !dir.IsDir() {
		return nil, fmt.Errorf("--state %s: %s is not a directory", place, filepath.Dir(place))
	}
	return []scanner.Option{scanner.WithMemory(scanner.FileStore(place + g.suffix()))}, nil
}

// suffix is what a group's own files end with; groups of one name have servers of their
// own.
func (g *Group) suffix() string {
	name := ""
	switch {
	case g.System != nil:
		name = g.System.Backend() + "-" + g.System.Node()
	case g.Name != "":
		name = g.Name + "-" + g.Nodes[0].Name
	default:
		return ""
	}
	return "." + strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// With is the flags, and where they were not given what the file has.
func (s SweepFlags) With(file *File, set *pflag.FlagSet) SweepFlags {
	open := func(flag string) bool { return !set.Changed(flag) }
	setDuration := func(to *time.Duration, flag string, from Duration) {
		if open(flag) && from != 0 {
			*to = time.Duration(from)
		}
	}
	t := file.Throttle
	setDuration(&s.maxTTL, "max-ttl", file.MaxTTL)
	setDuration(&s.maxHold, "max-hold", file.MaxHold)
	setDuration(&s.maxTerm, "max-term", file.MaxTerm)
	setDuration(&s.Deadline, "deadline", t.Deadline)
	if t.Pause != nil && open("pause") {
		s.pause = ui.Optional{Value: time.Duration(*t.Pause), Given: true}
	}
	if t.ConfirmAfter != nil && open("confirm-after") {
		s.confirmAfter = time.Duration(*t.ConfirmAfter)
	}
	if t.MaxValues != nil && open("max-values") {
		s.maxValues = *t.MaxValues
	}
	if open("page-size") {
		s.pageSize = cmp.Or(t.PageSize, s.pageSize)
	}
	if open("max-findings") {
		s.maxFindings = cmp.Or(t.MaxFindings, s.maxFindings)
	}
	if open("checks") && len(file.Checks) > 0 {
		s.checks = ui.NewList("class")
		_ = s.checks.Set(strings.Join(file.Checks, ",")) // which makes it given; it takes anything
	}
	s.allowEmpty = s.allowEmpty || file.AllowEmpty
	return s
}
