package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Level is how much of the guard a server allows: what lockscope can check about it.
type Level string

// The levels, from best to worst.
const (
	LevelFull    Level = "full guard"
	LevelMarker  Level = "marker identity"
	LevelWithout Level = "without guard"
	LevelUnfit   Level = "no locks" // whatever the services state
)

// Missing is one thing that a server does not report or permit.
type Missing struct {
	What   string `json:"what"`
	Lost   string `json:"lost"`
	Option string `json:"option,omitempty"` // of package redlock, with which services accept it; empty: none is needed
	Flag   string `json:"flag,omitempty"`   // of lockscope's commands
	Remedy string `json:"remedy,omitempty"`

	needed bool // the guard refuses the server without the option
	stated bool // by this command's flags
}

// accepted is what services accept with an option, and commands with a flag; stated says that this one does.
func (m Missing) accepted(option, flag string, stated bool) Missing {
	m.Option, m.Flag, m.needed, m.stated = option, flag, true, stated
	return m
}

// Lacks are the things that the server does not report or permit, those that cost most first.
func (f Facts) Lacks(p Policy) (all []Missing) {
	g := p.Guard
	if f.NoScripts != nil {
		all = append(all, Missing{What: "EVAL is refused: " + f.NoScripts.Error(), Lost: "no lock can be taken on it",
			Remedy: "permit scripts on the server: no option replaces them", needed: true})
	}
	if f.NoInfo != nil {
		return append(append(all, Missing{What: "INFO is refused: " + f.NoInfo.Error(),
			Lost:   "restarts, replicas, evictions and a server under two names are not detected",
			Remedy: "grant +info to this user"}.accepted("WithoutGuard", "--without-guard", g.WithoutGuard)),
			f.lacksConfig()...)
	}
	s := f.Server
	if len(s.NoSections) > 0 {
		all = append(all, Missing{What: "INFO has no section " + strings.Join(s.NoSections, ", "),
			Lost: "what these would report is unknown"})
	}
	if !s.knownRole() {
		what := "INFO has no role: a proxy, or a server of another make"
		if s.Role != "" {
			what = fmt.Sprintf("INFO has the unknown role %q", s.Role)
		}
		all = append(all, Missing{What: what, Lost: "replicas and restarts are not detected",
			Remedy: "give the server itself"}.accepted("WithoutGuard", "--without-guard", g.WithoutGuard))
	}
	if s.RunID == "" {
		lost := "a restart with older data is not detected; a server under two names only from its first vote on"
		if p.clustered() {
			lost = "restarts are not detected, as a Redis Cluster has no markers"
		}
		all = append(all, Missing{What: "INFO has no run_id: a proxy, or a server of another make",
			Lost: lost}.accepted("WithMarkerIdentity", "--marker-identity", g.MarkerIdentity))
	}
	switch {
	case s.Eviction == redisinfo.EvictionUnknown && s.CountsEvicted:
		all = append(all, Missing{What: "INFO has no maxmemory_policy or no maxmemory",
			Lost: "an eviction is detected afterwards only, by evicted_keys"}.
			accepted("WithoutEviction", "--without-eviction", g.WithoutEviction))
	case s.Eviction == redisinfo.EvictionUnknown:
		all = append(all, Missing{What: "INFO has no maxmemory_policy or no maxmemory, and no evicted_keys",
			Lost: "an eviction is not detected"}.accepted("WithoutEviction", "--without-eviction", g.WithoutEviction))
	case !s.CountsEvicted:
		all = append(all, Missing{What: "INFO has no evicted_keys",
			Lost: "keys that were evicted while the policy was another are not detected"})
	}
	return append(all, f.lacksConfig()...)
}

func (f Facts) lacksConfig() []Missing {
	if f.NoConfig == nil {
		return nil
	}
	return []Missing{{What: "CONFIG is refused: " + f.NoConfig.Error(),
		Lost: "doctor cannot read appendfsync and min-replicas-to-write; locks do not need it"}}
}

// Level is what the server allows, if services state the options that it needs.
func (f Facts) Level(p Policy) Level {
	switch {
	case f.NoScripts != nil:
		return LevelUnfit
	case f.NoInfo != nil || !f.Server.knownRole(), f.Server.RunID == "" && p.clustered():
		return LevelWithout
	case f.Server.RunID == "":
		return LevelMarker
	}
	return LevelFull
}

// checkGuard reports the level of each server that answers, and then each thing that one lacks, with all that lack it.
func checkGuard(facts []Facts, p Policy) (results []inspect.Result) {
	var lacking []inspect.Result
	for _, f := range reached(facts) {
		lacks := f.Lacks(p)
		level := f.levelResult(lacks, p)
		level.Node = f.Node
		results = append(results, level)
		for _, m := range lacks {
			r := inspect.Warned(m.What+": "+m.Lost, m.advice())
			r.Node = f.Node
			lacking = append(lacking, r)
		}
	}
	for len(lacking) > 0 {
		first := lacking[0].Detail
		other := func(r inspect.Result) bool { return r.Detail != first }
		results = append(results, slices.DeleteFunc(slices.Clone(lacking), other)...)
		lacking = slices.DeleteFunc(lacking, func(r inspect.Result) bool { return !other(r) })
	}
	return results
}

func (f Facts) levelResult(lacks []Missing, p Policy) inspect.Result {
	detail := string(f.Level(p))
	if p.clustered() && f.Level(p) == LevelFull {
		detail += ", as far as a Redis Cluster has it: restarts are reported, and its nodes vote at once"
	}
	var options, unstated []string
	for _, m := range lacks {
		if m.needed && m.Option != "" && !slices.Contains(options, m.Option) {
			options = append(options, m.Option)
			if !m.stated && !p.Guard.WithoutGuard {
				unstated = append(unstated, m.Flag)
			}
		}
	}
	switch {
	case f.Level(p) == LevelUnfit:
		return inspect.Failed(detail, "use another server, or change this one")
	case len(unstated) > 0:
		return inspect.Failed(detail+", with "+strings.Join(options, " and "), fmt.Sprintf("lockscope refuses this node: the "+
			"services have to accept what is lost with %s, and lockscope's commands with %s",
			strings.Join(options, " and "), strings.Join(unstated, " ")))
	case len(options) > 0:
		return inspect.Warned(detail+", with "+strings.Join(options, " and "),
			"use these options in all services: the promise is smaller")
	}
	return inspect.Passed(detail)
}

// advice is what a caller may do about it.
func (m Missing) advice() string {
	switch {
	case m.Option == "" && m.Remedy == "":
		return "nothing, if you can do without"
	case m.Option == "":
		return m.Remedy
	case m.stated:
		return "you accept it with " + m.Flag
	case m.Remedy == "":
		return fmt.Sprintf("services accept it with %s, lockscope's commands with %s", m.Option, m.Flag)
	}
	return fmt.Sprintf("%s; services accept it with %s, lockscope's commands with %s", m.Remedy, m.Option, m.Flag)
}
