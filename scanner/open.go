package scanner

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock"
)

// Open is New on clients that it makes from URLs, as [redlock.NewClients] does. Close closes these clients too.
// Errors name a URL by its position only, because a URL may contain a password.
func Open(urls []string, opts ...Option) (*Scanner, error) {
	clients, closeClients, err := redlock.NewClients(urls)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidNode, err)
	}
	s, err := New(clients, opts...)
	if err != nil {
		return nil, errors.Join(err, closeClients())
	}
	s.closeClients = closeClients
	return s, nil
}
