package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
)

// ClassNames are the classes of findings, worst first.
func ClassNames() []string {
	return []string{
		string(scanner.NoTTL), string(scanner.HeldTooLong), string(scanner.Orphan), string(scanner.LongTTL),
		string(scanner.ForeignType),
	}
}

// Flags say what is looked for and how gently. scan and serve have them in common.
type Flags struct {
	prefixes        []string
	patterns        []string
	allowEmpty      bool
	checks          *flags.List
	maxTTL, maxHold time.Duration
	confirmAfter    time.Duration
	pageSize        int
	pause, Deadline time.Duration
	maxFindings     int
	maxValues       int
	maxWatched      int
	replicas        *flags.List
	redlock         bool
}

// Register adds the flags; maxValues is the default of the flag of that name.
func (s *Flags) Register(set *pflag.FlagSet, maxValues int) {
	s.checks, s.replicas = flags.NewList("class", ClassNames()...), flags.NewList("URL")
	set.StringArrayVar(&s.prefixes, "prefix", nil,
		"look at keys that begin like this; repeat it for several. Without it and --pattern: "+scanner.DefaultPrefix)
	set.StringArrayVar(&s.patterns, "pattern", nil,
		"look at keys that match this glob pattern of Redis, too; repeat it for several. Each costs a pass through all keys")
	set.BoolVar(&s.allowEmpty, "allow-empty", false, "it is no gap that no key matches")
	set.Var(s.checks, "checks",
		"classes of findings to look for; orphan is only looked for if the servers prove to be "+
			"all nodes of one Redlock")
	set.BoolVar(&s.redlock, "redlock", false, "the servers are all nodes of one Redlock, though they do not prove it; "+
		"if they are not, every healthy lock is an orphan")
	set.DurationVar(&s.maxTTL, "max-ttl", scanner.DefaultTTLLimit, "a longer TTL is a finding: long_ttl")
	set.DurationVar(&s.maxHold, "max-hold", scanner.DefaultHoldLimit,
		"one holder for longer is a finding: held_too_long")
	set.DurationVar(&s.confirmAfter, "confirm-after", scanner.DefaultConfirmAfter,
		"look again after this before a finding counts; 0 looks again at once and reports locks between SETNX and EXPIRE")
	set.IntVar(&s.pageSize, "page-size", scanner.DefaultPageSize,
		"keys a server looks at without serving others meanwhile (COUNT of SCAN)")
	set.DurationVar(&s.pause, "pause", scanner.DefaultPause,
		"leave a server alone for this long after each page; 0 is fastest and heaviest")
	set.DurationVar(&s.Deadline, "deadline", scanner.DefaultDeadline,
		"a sweep takes no longer, and is truncated if it would")
	set.IntVar(&s.maxFindings, "max-findings", scanner.DefaultMaxFindings,
		"keep so many findings and only count the others")
	set.IntVar(&s.maxValues, "max-values", maxValues, "read so many values per server and sweep, in turns; 0 reads all")
	set.IntVar(&s.maxWatched, "max-watched", scanner.DefaultMaxWatched,
		"remember so many holders per server that do not say since when they hold their locks")
	set.Var(s.replicas, "replica", "replica to read pages from, one for each --redis in its order")
}

var errNoPrefix = errors.New("--prefix is empty: --pattern '*' looks at every key")

func (s *Flags) classes() ([]scanner.Class, error) {
	return ParseClasses("checks", s.checks.Values())
}

// ParseClasses are the classes that a flag names.
func ParseClasses(flag string, names []string) ([]scanner.Class, error) {
	classes := make([]scanner.Class, 0, len(names))
	for _, name := range names {
		if !slices.Contains(ClassNames(), name) {
			return nil, fmt.Errorf("--%s: there is no class %q; there are %s", flag, name,
				strings.Join(ClassNames(), ", "))
		}
		classes = append(classes, scanner.Class(name))
	}
	return classes, nil
}

// Options checks nothing that scanner.New checks.
func (s *Flags) Options(nodes []target.Node) ([]scanner.Option, error) {
	classes, err := s.classes()
	if err != nil {
		return nil, err
	}
	opts := []scanner.Option{
		scanner.WithTTLLimit(s.maxTTL), scanner.WithHoldLimit(s.maxHold),
		scanner.WithConfirmAfter(s.confirmAfter), scanner.WithPageSize(s.pageSize), scanner.WithPause(s.pause),
		scanner.WithDeadline(s.Deadline), scanner.WithMaxFindings(s.maxFindings), scanner.WithMaxWatched(s.maxWatched),
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
	return append(opts, scanner.WithNodeNames(target.Names(nodes)...)), nil
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
		globs = []string{scanner.PrefixPattern(scanner.DefaultPrefix)}
	}
	return globs, nil
}

// OpenReplicas makes clients for the replicas, with the credentials and TLS of the
// nodes. The caller closes them.
func (s *Flags) OpenReplicas(a *app.App, r *target.Flags) ([]target.Node, error) {
	urls := s.replicas.Values()
	if len(urls) == 0 {
		return nil, nil
	}
	if r.Config.Cluster || r.Config.SentinelMaster != "" {
		return nil, fmt.Errorf("%w: --replica and --cluster or --sentinel-master", target.ErrConflict)
	}
	of := *r
	of.URLs, of.Config.File = flags.NewList("URL", urls...), ""
	nodes, err := of.Open(a)
	if err != nil {
		return nil, fmt.Errorf("--replica: %w", err)
	}
	return nodes, nil
}
