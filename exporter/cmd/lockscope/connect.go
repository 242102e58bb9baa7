package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
)

// systemRedis is what metrics and results call Redis.
const systemRedis = "redis"

// varRedisURL is where platforms say which server is an app's.
const varRedisURL = "REDIS_URL"

var errTwoPasswords = errors.New("both --redis-password-file and " + varRedisPassword + " are given: which one counts?")

// redisFlags say which servers a command talks to.
type redisFlags struct {
	urls   *flags.List
	target target.Config
}

func (r *redisFlags) register(set *pflag.FlagSet) {
	r.urls = flags.NewList("URL")
	set.VarP(r.urls, "redis", "r", "Redis server as redis://[user:password@]host:port[/db], rediss:// for TLS, unix:///path/to/socket, host:port, localhost or an address; "+
		"repeat it or separate by commas. Without any server the variable "+varRedisURL+" counts")
	set.StringVar(&r.target.File, "redis-file", "", "file with one such URL a line; - is standard input")
	set.StringVar(&r.target.Username, "redis-username", "", "ACL user for URLs that name none")
	set.StringVar(&r.target.PasswordFile, "redis-password-file", "", "file with the password for URLs without one; or the variable "+varRedisPassword)
	set.StringVar(&r.target.TLS.CA, "tls-ca", "", "PEM file of the authorities that sign the servers' certificates, instead of the system's")
	set.StringVar(&r.target.TLS.Cert, "tls-cert", "", "PEM file of this client's certificate")
	set.StringVar(&r.target.TLS.Key, "tls-key", "", "PEM file of this client's key")
	set.BoolVar(&r.target.TLS.SkipVerify, "tls-insecure-skip-verify", false, "believe any server: for tests only")
	set.BoolVar(&r.target.Cluster, "cluster", false, "the URLs are seeds of one Redis Cluster: all its masters are meant")
	set.StringVar(&r.target.SentinelMaster, "sentinel-master", "", "the URLs are Sentinels, and this is the master they watch; "+
		"their own password comes from the variable "+varSentinelPassword)
}

// named says that a flag names servers, and not the environment of a platform alone.
func (r *redisFlags) named() bool { return len(r.urls.Values()) > 0 || r.target.File != "" }

// open makes clients and connects to nothing yet. The caller closes them.
func (r *redisFlags) open(a *app) ([]target.Node, error) { return r.openURLs(a, r.urls.Values()) }

// openURLs does it for other servers of the same users.
func (r *redisFlags) openURLs(a *app, urls []string) ([]target.Node, error) {
	c := r.target
	c.URLs = urls
	c.Stdin = a.in
	if url := a.env[varRedisURL]; url != "" && len(urls) == 0 && c.File == "" {
		c.URLs = []string{url}
	}
	c.Password, c.SentinelPassword = a.env[varRedisPassword], a.env[varSentinelPassword]
	if c.Password != "" && c.PasswordFile != "" {
		return nil, errTwoPasswords
	}
	return c.Open()
}

// close releases the clients; what goes wrong then concerns nobody any more.
func closeNodes(nodes []target.Node) { _ = target.Close(nodes) }

// namesFlag is how the services name the nodes, where that is not their addresses.
type namesFlag struct{ list *flags.List }

func (n *namesFlag) register(set *pflag.FlagSet) {
	n.list = flags.NewList("name")
	set.Var(n.list, "node-names", "what the services call the nodes, in the order of --redis: WithNodeNames; without it their addresses")
}

// of returns a name for each node.
func (n *namesFlag) of(nodes []target.Node) ([]string, error) {
	names := n.list.Values()
	if len(names) == 0 {
		for _, node := range nodes {
			names = append(names, node.Name)
		}
	}
	if len(names) != len(nodes) {
		return nil, fmt.Errorf("--node-names: %d names for %d nodes", len(names), len(nodes))
	}
	return names, nil
}

// names are those of the nodes.
func names(nodes []target.Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name
	}
	return all
}
