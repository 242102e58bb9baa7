package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Names of the systems beside Redis in a file.
const (
	postgres  = "postgres"
	etcd      = "etcd"
	zookeeper = "zookeeper"
)

// System names the system of a group: redis, postgres, etcd or zookeeper. It is redis if there is none.
func (g *FileGroup) System() string {
	if all := g.systems(); len(all) > 0 {
		return all[0]
	}
	return servers.Redis
}

// OtherThanRedis reports whether a group has a system beside Redis.
func (f *File) OtherThanRedis() bool {
	return slices.ContainsFunc(f.Groups, func(g FileGroup) bool { return g.System() != servers.Redis })
}

func (g *FileGroup) systems() (all []string) {
	for _, s := range []struct {
		name  string
		named bool
	}{
		{servers.Redis, len(g.Redis) > 0}, {postgres, g.Postgres != ""}, {etcd, len(g.Etcd) > 0},
		{zookeeper, len(g.ZooKeeper) > 0},
	} {
		if s.named {
			all = append(all, s.name)
		}
	}
	return all
}

// fieldsOf are the fields that only groups of some systems have.
var fieldsOf = map[string][]string{
	"replicas": {servers.Redis}, "cluster": {servers.Redis}, "sentinel_master": {servers.Redis},
	"sentinel_password_file": {servers.Redis}, "redlock": {servers.Redis}, "patterns": {servers.Redis},
	"schema": {postgres}, "etcd_prefix": {etcd}, "etcd_fence_key": {etcd},
	"zookeeper_root": {zookeeper}, "zookeeper_auth_file": {zookeeper},
	"prefixes": {postgres, etcd, zookeeper}, "max_ttl": {postgres, etcd, zookeeper},
	"max_hold": {postgres, etcd, zookeeper}, "max_term": {postgres, etcd, zookeeper},
	"username": {servers.Redis, etcd}, "password_file": {servers.Redis, postgres, etcd},
	"tls": {servers.Redis, postgres, etcd},
}

// insteadOf is what to use where a field does not belong.
var insteadOf = map[string]string{
	postgres + " username": "name the user in the URL", zookeeper + " username": "use zookeeper_auth_file",
	zookeeper + " password_file": "use zookeeper_auth_file", zookeeper + " tls": "lockscope reads ZooKeeper in plain text",
}

// checkSystem checks that a group has one system, and nothing of others.
func (g *FileGroup) checkSystem(p *problems, path string) {
	switch all := g.systems(); {
	case len(all) == 0:
		p.add(path, "no servers: set redis, postgres, etcd or zookeeper")
		return
	case len(all) > 1:
		p.add(path, "%s are all set: make a group of each", strings.Join(all, " and "))
		return
	}
	system := g.System()
	for _, field := range slices.Sorted(maps.Keys(fieldsOf)) {
		systems := fieldsOf[field]
		if _, set := p.lines[path+"."+field]; !set || slices.Contains(systems, system) {
			continue
		}
		remedy := cmp.Or(insteadOf[system+" "+field], "leave it out")
		switch {
		case field == "patterns":
			remedy = "use prefixes, max_ttl, max_hold and max_term"
		case len(systems) == 3 && system == servers.Redis:
			remedy = "use patterns"
		}
		p.add(path+"."+field, "not for %s: %s", system, remedy)
	}
	g.Other.check(p, path, g)
}

func (o *Other) check(p *problems, path string, g *FileGroup) {
	if o.Postgres != "" {
		if err := checkPostgres(o.Postgres, g.TLS != TLS{}); err != nil {
			p.add(path+"."+postgres, "%v", err)
		}
	}
	for i, endpoint := range o.Etcd {
		if g.TLS != (TLS{}) && !strings.HasPrefix(endpoint, "https://") {
			p.add(fmt.Sprintf("%s.%s[%d]", path, etcd, i), "tls is set, but this endpoint uses plain text: "+
				"begin it with https://")
		}
	}
	switch {
	case len(o.Etcd) > 0 && g.PasswordFile != "" && g.Username == "":
		p.add(path+".password_file", "needs username")
	case slices.Contains(o.Prefixes, ""):
		p.add(path+".prefixes", "empty: leave it out; the locks of the services are read anyway")
	}
	for name, d := range map[string]Duration{"max_ttl": o.MaxTTL, "max_hold": o.MaxHold, "max_term": o.MaxTerm} {
		checkLimit(p, path+"."+name, d)
	}
}

var (
	errPostgresURL = errors.New("is not the URL of a PostgreSQL database (its text is withheld: it may hold a " +
		"password). Use postgres://user@host:port/database")
	errPostgresSecret = errors.New("has a password (its text is withheld): put it into a file and name that in " +
		"password_file")
	errPostgresPlain = errors.New("tls is set, but the URL has sslmode=disable: use sslmode=verify-full")
)

// checkPostgres wants a URL: the key=value pairs of psql are not taken apart here.
func checkPostgres(text string, secure bool) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errPostgresURL
	}
	query := u.Query()
	if _, set := u.User.Password(); set || query.Has("password") || query.Has("sslpassword") {
		return errPostgresSecret
	}
	if secure && query.Get("sslmode") == "disable" {
		return errPostgresPlain
	}
	return nil
}

// Backend says how the system of a group beside Redis is reached. It reads the files of its secrets.
func (f *File) Backend(g *FileGroup) (c servers.OtherConfig, err error) {
	c = servers.OtherConfig{
		Postgres: g.Postgres, Schema: cmp.Or(g.Schema, pglock.DefaultSchema), Prefixes: g.Prefixes,
		Etcd: g.Etcd, EtcdPrefix: cmp.Or(g.EtcdPrefix, lock.DefaultPrefix), EtcdUsername: g.Username,
		EtcdFenceKey: cmp.Or(g.EtcdFenceKey, etcdlock.DefaultFenceKey),
		ZooKeeper:    g.ZooKeeper, ZooKeeperRoot: cmp.Or(g.ZooKeeperRoot, zklock.DefaultRoot),
	}
	password := ""
	if err = f.read(secret{"password_file", g.PasswordFile, &password},
		secret{"zookeeper_auth_file", g.ZooKeeperAuthFile, &c.ZooKeeperAuth}); err != nil {
		return c, err
	}
	switch g.System() {
	case postgres:
		c.PostgresPassword = password
	case etcd:
		c.EtcdPassword = password
	}
	c.TLS, err = f.tls(g).Config()
	return c, err
}
