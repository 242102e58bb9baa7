package redlock

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/redis/go-redis/v9"
)

// Open is like [New], on clients that it makes from URLs: see [NewClients]. Close also closes these
// clients.
//
// go-redis logs every failed connection to stderr, with a logger that all clients of the process
// share. Open does not change it. Package exporter/redislog redirects it to a [log/slog.Logger].
func Open(urls []string, opts ...lock.Option) (*engine.Engine, error) {
	clients, closeClients, err := NewClients(urls)
	if err != nil {
		return nil, err
	}
	base, s, err := newSettings(len(clients), opts)
	if err != nil {
		return nil, errors.Join(err, closeClients())
	}
	base.OnClose(closeClients)
	e, err := newEngine(clients, base, s)
	if err != nil {
		return nil, errors.Join(err, closeClients())
	}
	return e, nil
}

// NewClients returns a client for each URL, and a function that closes them all. URLs have the form
//
//	redis://[user:password@]host:port[/db][?option=value]
//	rediss://...                                            with TLS
//	unix://[user:password@]/path/to/socket[?db=n]
//	host:port, a host's name with a dot, localhost, an IP address, or the path of a socket
//
// with the options of go-redis' ParseURL. The default port is 6379. NewClients does not connect. Its error matches
// [lock.ErrInvalidNode] and gives only the position of the URL, which may contain a password. After
// an error no client is left open.
func NewClients(urls []string) (clients []redis.UniversalClient, closeAll func() error, err error) {
	closeAll = func() error {
		var errs []error
		for _, c := range clients {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	for i, raw := range urls {
		opt, err := ParseURL(raw)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("%w: URL %d %w", lock.ErrInvalidNode, i+1, err), closeAll())
		}
		clients = append(clients, redis.NewClient(opt))
	}
	return clients, closeAll, nil
}

var errMalformedURL = errors.New("is malformed (not shown, as it may contain a password): " +
	"use redis://[user:password@]host:port[/db] or unix://[user:password@]/path, " +
	"and percent-encode special characters of the password")

// ParseURL parses one URL of [NewClients]. Its error never contains the URL's text, since a bad port or
// escape may be part of a password. The error begins with a verb, to follow the URL's name.
func ParseURL(raw string) (*redis.Options, error) {
	raw = completeURL(raw)
	scheme, _, found := strings.Cut(raw, "://")
	if !found || (scheme != "redis" && scheme != "rediss" && scheme != "unix") {
		return nil, errors.New("must be host:port, or begin with redis://, rediss:// or unix://")
	}
	opt, err := redis.ParseURL(raw)
	if err != nil {
		return nil, errMalformedURL
	}
	opt.MaintNotificationsConfig = redisconn.NoMaintNotifications()
	return opt, nil
}

const defaultPort = "6379"

// hostName is a name with a dot, and nothing that a URL has besides.
var hostName = regexp.MustCompile(
	`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.[a-z][a-z0-9-]*[a-z0-9]$`)

// completeURL makes a URL of host:port, a socket's path, localhost, an address or a name with a dot, and leaves everything
// else as it is. Any other single word could be a part of a password that was cut at a comma, and would be reported as a
// host's name.
func completeURL(raw string) string {
	if strings.HasPrefix(raw, "/") && !strings.ContainsAny(raw, "@?#") {
		return "unix://" + raw
	}
	if host, port, err := net.SplitHostPort(raw); err == nil && host != "" && port != "" && !strings.ContainsAny(raw, "@/?#") {
		return "redis://" + raw
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(raw, "["), "]")
	switch {
	case net.ParseIP(bare) != nil:
		return "redis://" + net.JoinHostPort(bare, defaultPort)
	case raw == "localhost" || hostName.MatchString(raw):
		return "redis://" + raw + ":" + defaultPort
	}
	return raw
}
