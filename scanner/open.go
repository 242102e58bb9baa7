package scanner

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Open is New on clients it makes from URLs of the form
//
//	redis://[user:password@]host:port[/db][?option=value]
//	rediss://...                                            with TLS
//
// with the options of go-redis' ParseURL, as [lock.Open] has them. Close closes
// these clients too. Its errors name a URL by its position only: a URL may hold a
// password.
func Open(urls []string, opts ...Option) (*Scanner, error) {
	clients := make([]redis.UniversalClient, 0, len(urls))
	closeClients := func() error {
		var errs []error
		for _, c := range clients {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	for i, raw := range urls {
		opt, err := parseURL(raw)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: URL %d %w", ErrInvalidNode, i+1, err), closeClients())
		}
		clients = append(clients, redis.NewClient(opt))
	}
	s, err := New(clients, opts...)
	if err != nil {
		return nil, errors.Join(err, closeClients())
	}
	s.closeClients = closeClients
	return s, nil
}

var errMalformedURL = errors.New("is malformed: redis://[user:password@]host:port[/db] is expected, " +
	"with special characters of the password percent-encoded (its text is withheld: it may hold a password)")

// parseURL keeps the text of the URL out of its error: what looks like a bad port
// may be part of a password.
func parseURL(raw string) (*redis.Options, error) {
	scheme, _, found := strings.Cut(raw, "://")
	if !found || (scheme != "redis" && scheme != "rediss") {
		return nil, errors.New("must begin with redis:// or rediss://")
	}
	opt, err := redis.ParseURL(raw)
	if err != nil {
		return nil, errMalformedURL
	}
	return opt, nil
}
