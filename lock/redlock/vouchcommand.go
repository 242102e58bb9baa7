package redlock

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// vouchCommand returns the command that vouches for these nodes under these names; "" if init cannot.
// It has no user and no password: errors go to logs, and a service's user may have fewer rights than
// init needs.
func vouchCommand(clients []redis.UniversalClient, names []string, maxTTL time.Duration, s settings) string {
	var urls, own []string
	var needs credentials
	for _, given := range clients {
		c, ok := given.(*redis.Client)
		if !ok || c.Options().Addr == redisconn.SentinelAddress {
			return ""
		}
		urls, own = append(urls, plainURL(c.Options())), append(own, redisconn.Name(c.Options()))
		needs.add(c.Options())
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ",") }) {
		return "" // init separates names by commas
	}
	words := []string{"lockscope init --redis", shellWord(strings.Join(urls, ","))}
	if !slices.Equal(names, own) {
		words = append(words, "--node-names", shellWord(strings.Join(names, ",")))
	}
	if maxTTL != lock.DefaultMaxTTL {
		words = append(words, "--max-ttl", maxTTL.String())
	}
	if s.byMarker {
		words = append(words, "--marker-identity")
	}
	if s.evictionOK {
		words = append(words, "--evicting-nodes")
	}
	return strings.Join(append(words, needs.flags()...), " ")
}

// plainURL names a server on the command line.
func plainURL(opt *redis.Options) string {
	switch {
	case opt.Network == "unix":
		return fmt.Sprintf("unix://%s?db=%d", opt.Addr, opt.DB)
	case opt.TLSConfig != nil:
		return fmt.Sprintf("rediss://%s/%d", opt.Addr, opt.DB)
	case opt.DB != 0:
		return fmt.Sprintf("redis://%s/%d", opt.Addr, opt.DB)
	}
	return opt.Addr
}

// credentials are the kinds of credentials that the nodes need, without their values.
type credentials struct{ user, password, authorities, certificate bool }

func (c *credentials) add(opt *redis.Options) {
	provided := opt.CredentialsProvider != nil || opt.CredentialsProviderContext != nil ||
		opt.StreamingCredentialsProvider != nil
	c.user = c.user || opt.Username != "" || provided
	c.password = c.password || opt.Password != "" || provided
	if t := opt.TLSConfig; t != nil {
		c.authorities = c.authorities || t.RootCAs != nil
		c.certificate = c.certificate || len(t.Certificates) > 0 || t.GetClientCertificate != nil
	}
}

// flags returns the rest of the command line, with placeholders in capitals.
func (c *credentials) flags() (words []string) {
	if c.user {
		words = append(words, "--redis-username USER")
	}
	if c.password {
		words = append(words, "--redis-password-file FILE")
	}
	if c.authorities {
		words = append(words, "--tls-ca FILE")
	}
	if c.certificate {
		words = append(words, "--tls-cert FILE --tls-key FILE")
	}
	return words
}

// plainWord matches words that no shell changes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_.,:/@=+-]+$`)

func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
