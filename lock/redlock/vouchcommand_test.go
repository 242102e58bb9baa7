package redlock

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
)

// TestVouchCommand: the command can be pasted into a shell and has no user and no password.
func TestVouchCommand(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-w0rd"
	two := func(a, b *redis.Options) []redis.UniversalClient {
		return []redis.UniversalClient{redis.NewClient(a), redis.NewClient(b)}
	}
	at := func(addr string) *redis.Options { return &redis.Options{Addr: addr} }
	provider := func() (string, string) { return secret, secret }
	sentinels := &redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"s:1"}}
	seeds := &redis.ClusterOptions{Addrs: []string{"c:1"}}
	private := &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{{}}}
	for name, c := range map[string]struct {
		clients []redis.UniversalClient
		names   []string
		maxTTL  time.Duration
		want    string
	}{
		"addresses":   {two(at("r1:6379"), at("[::1]:2")), nil, 0, "--redis 'r1:6379,[::1]:2'"},
		"another TTL": {two(at("r1:1"), at("r2:1")), nil, 90 * time.Second, "--redis r1:1,r2:1 --max-ttl 1m30s"},
		"names":       {two(at("r1:1"), at("r2:1")), []string{"a b", "c"}, 0, "--redis r1:1,r2:1 --node-names 'a b,c'"},
		"database": {
			two(&redis.Options{Addr: "r1:1", DB: 2}, &redis.Options{Addr: "r2:1", DB: 3}),
			[]string{"r1:1/2", "r2:1/3"}, 0,
			"--redis redis://r1:1/2,redis://r2:1/3",
		},
		"sockets": {
			two(&redis.Options{Network: "unix", Addr: "/run/it's"}, at("r2:1")), []string{"/run/it's", "r2:1"}, 0,
			`--redis 'unix:///run/it'\''s?db=0,r2:1'`,
		},
		"password": {
			two(&redis.Options{Addr: "r1:1", Password: secret}, at("r2:1")), nil, 0,
			"--redis r1:1,r2:1 --redis-password-file FILE",
		},
		"user": {
			two(at("r1:1"), &redis.Options{Addr: "r2:1", Username: secret, Password: secret}), nil, 0,
			"--redis r1:1,r2:1 --redis-username USER --redis-password-file FILE",
		},
		"provider": {
			two(at("r1:1"), &redis.Options{Addr: "r2:1", CredentialsProvider: provider}), nil, 0,
			"--redis r1:1,r2:1 --redis-username USER --redis-password-file FILE",
		},
		"TLS": {
			two(&redis.Options{Addr: "r1:1", TLSConfig: private},
				&redis.Options{Addr: "r2:1", TLSConfig: &tls.Config{}}),
			nil, 0,
			"--redis rediss://r1:1/0,rediss://r2:1/0 --tls-ca FILE --tls-cert FILE --tls-key FILE",
		},
		"commas in names": {two(at("r1:1"), at("r2:1")), []string{"a,b", "c"}, 0, ""},
		"Sentinel": {
			[]redis.UniversalClient{redis.NewFailoverClient(sentinels)}, nil, 0, "",
		},
		"cluster": {[]redis.UniversalClient{redis.NewClusterClient(seeds)}, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			names, maxTTL := c.names, c.maxTTL
			for _, client := range c.clients {
				if one, ok := client.(*redis.Client); ok && c.names == nil {
					names = append(names, one.Options().Addr)
				}
				defer client.Close()
			}
			if maxTTL == 0 {
				maxTTL = lock.DefaultMaxTTL
			}
			want := c.want
			if want != "" {
				want = "lockscope init " + want
			}
			if got := vouchCommand(c.clients, names, maxTTL, settings{}); got != want || strings.Contains(got, secret) {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

// TestVouchCommandOfOtherServers has the flags for what the caller accepts of them.
func TestVouchCommandOfOtherServers(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(&redis.Options{Addr: "r1:1"})
	defer c.Close()
	const want = "lockscope init --redis r1:1 --marker-identity --evicting-nodes"
	s := settings{byMarker: true, evictionOK: true, noEviction: true}
	if got := vouchCommand([]redis.UniversalClient{c}, []string{"r1:1"}, lock.DefaultMaxTTL, s); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
