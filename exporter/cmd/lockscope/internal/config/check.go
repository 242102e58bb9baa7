package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// check finds the mistakes that decode cannot see.
func (f *File) check(p *problems) {
	for i, class := range f.Checks {
		checkClass(p, fmt.Sprintf("checks[%d]", i), class)
	}
	checkPatterns(p, "", f.Patterns)
	if len(f.Patterns) > 0 && len(f.Groups) > 0 && !slices.ContainsFunc(f.Groups, func(g FileGroup) bool {
		return g.System() == servers.Redis
	}) {
		p.add("patterns", "only for Redis, and no group has redis: give the groups prefixes")
	}
	checkExclusions(p, "", f.Exclusions)
	for name, d := range map[string]Duration{
		"max_ttl": f.MaxTTL, "max_hold": f.MaxHold, "max_term": f.MaxTerm, "interval": f.Interval,
	} {
		checkLimit(p, name, d)
	}
	seen := make(map[string]bool)
	for i := range f.Groups {
		g, path := &f.Groups[i], fmt.Sprintf("groups[%d]", i)
		if seen[g.Name] {
			p.add(path+".name", "another group has the same name: use another one")
		}
		seen[g.Name] = true
		g.check(p, path)
	}
	f.checkNotify(p)
}

func (g *FileGroup) check(p *problems, path string) {
	if strings.TrimSpace(g.Name) == "" {
		p.add(path+".name", "empty: name the group")
	}
	g.checkSystem(p, path)
	for name, urls := range map[string][]string{"redis": g.Redis, "replicas": g.Replicas} {
		for i, url := range urls {
			if err := servers.CheckURL(url); err != nil {
				p.add(fmt.Sprintf("%s.%s[%d]", path, name, i), "the URL %v", err)
			}
		}
	}
	single := g.Cluster || g.SentinelMaster != ""
	switch {
	case g.Cluster && g.SentinelMaster != "":
		p.add(path+".cluster", "cluster and sentinel_master are both set: use one")
	case single && g.Redlock != nil:
		p.add(path+".redlock", "not allowed for a cluster or Sentinels, which are one node: leave it out")
	case single && len(g.Replicas) > 0:
		p.add(path+".replicas", "only for single servers: leave it out")
	case !single && len(g.Redis) > 1 && g.Redlock == nil:
		p.add(path,
			"redlock is missing: set it to true if these servers are nodes of one Redlock, to false if they are "+
				"independent")
	case len(g.Replicas) > 0 && len(g.Replicas) != len(g.Redis):
		p.add(path+".replicas", "%s for %s: give one for each, in the same order",
			inspect.Count(len(g.Replicas), "replica"), inspect.Count(len(g.Redis), "server"))
	}
	if g.SentinelPasswordFile != "" && g.SentinelMaster == "" {
		p.add(path+".sentinel_password_file", "needs sentinel_master")
	}
	if (g.TLS.Cert == "") != (g.TLS.Key == "") {
		p.add(path+".tls", "only one of cert and key: set both or neither")
	}
	checkPatterns(p, path+".", g.Patterns)
	checkExclusions(p, path+".", g.Exclusions)
}

func checkPatterns(p *problems, path string, patterns []Pattern) {
	seen := make(map[string]bool)
	for i := range patterns {
		one, at := &patterns[i], fmt.Sprintf("%spatterns[%d]", path, i)
		if (one.Pattern == "") == (one.Prefix == "") {
			p.add(at, "needs either pattern or prefix; pattern: '*' reads every key")
			continue
		}
		if name := one.policy().Name; seen[name] {
			p.add(at, "another pattern has the same name: set name")
		} else {
			seen[name] = true
		}
		checkLimit(p, at+".max_ttl", one.MaxTTL)
		checkLimit(p, at+".max_hold", one.MaxHold)
		checkLimit(p, at+".max_term", one.MaxTerm)
	}
}

func checkExclusions(p *problems, path string, exclusions []Exclusion) {
	for i, e := range exclusions {
		at := fmt.Sprintf("%sexclusions[%d]", path, i)
		if e.Pattern == "" {
			p.add(at+".pattern", "empty: set a pattern; '*' excludes every key")
		}
		if e.Until.IsZero() {
			p.add(at+".until", "empty: set the end of the exclusion")
		}
		if strings.TrimSpace(e.Reason) == "" {
			p.add(at+".reason", "empty: say why, for later readers")
		}
	}
}

func checkClass(p *problems, path, class string) {
	if !slices.Contains(ClassNames(), class) {
		p.add(path, "unknown class: use one of %v", ClassNames())
	}
}

func (f *File) checkNotify(p *problems) {
	for i, a := range f.Notify.Alertmanagers {
		path := fmt.Sprintf("notify.alertmanagers[%d]", i)
		for class := range a.Severity {
			checkClass(p, path+".severity", class)
		}
		f.checkTarget(p, path, a.Groups, a.Credentials)
	}
	for i, w := range f.Notify.Webhooks {
		path := fmt.Sprintf("notify.webhooks[%d]", i)
		if (w.URL == "") == (w.URLFile == "") {
			p.add(path, "either url or url_file is needed")
		}
		if w.SecretFile != "" && w.TemplateFile == "" {
			p.add(path+".secret_file", "needs template_file: only a template writes the secret")
		}
		f.checkTarget(p, path, w.Groups, w.Credentials)
	}
}

func (f *File) checkTarget(p *problems, path string, groups []string, c Credentials) {
	for i, name := range groups {
		if !slices.ContainsFunc(f.Groups, func(g FileGroup) bool { return g.Name == name }) {
			p.add(fmt.Sprintf("%s.groups[%d]", path, i), "unknown group: use the name of a group in this file")
		}
	}
	switch {
	case c.Username == "" && c.PasswordFile != "":
		p.add(path+".password_file", "needs username")
	case c.Username != "" && c.BearerTokenFile != "":
		p.add(path+".bearer_token_file", "bearer_token_file and username are both set: use one")
	}
}

// ClassNames are the classes of findings, worst first.
func ClassNames() (names []string) {
	for _, class := range inspect.Classes() {
		names = append(names, string(class))
	}
	return names
}
