package redlock

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/redis/go-redis/v9"
)

// Open is New on clients it makes from URLs: see [NewClients]. Close closes these
// clients too.
//
// go-redis writes each connection that fails to stderr, by a logger that all clients of the process share: Open
// leaves it alone. Package exporter/redislog takes what it says to a [log/slog.Logger].
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

// NewClients makes a client for each URL of the form
//
//	redis://[user:password@]host:port[/db][?option=value]
//	rediss://...                                            with TLS
//	unix://[user:password@]/path/to/socket[?db=n]
//
// with the options of go-redis' ParseURL, and a function that closes them all. It
// connects to nothing. Its error matches [ErrInvalidNode] and names a URL by its
// position only: a URL may hold a password. No client is left open then.
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

var errMalformedURL = errors.New("is malformed: redis://[user:password@]host:port[/db] or " +
	"unix://[user:password@]/path is expected, " +
	"with special characters of the password percent-encoded (its text is withheld: it may hold a password)")

// ParseURL reads one URL of [NewClients]. It never lets the text of the URL into its
// error, which begins with a verb: what looks like a bad port or a bad escape may be part
// of a password.
func ParseURL(raw string) (*redis.Options, error) {
	scheme, _, found := strings.Cut(raw, "://")
	if !found || (scheme != "redis" && scheme != "rediss" && scheme != "unix") {
		return nil, errors.New("must begin with redis://, rediss:// or unix://")
	}
	opt, err := redis.ParseURL(raw)
	if err != nil {
		return nil, errMalformedURL
	}
	opt.MaintNotificationsConfig = redisconn.NoMaintNotifications()
	return opt, nil
}
