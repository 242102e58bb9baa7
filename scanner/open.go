package scanner

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock"
)

// Open is New on clients it makes from URLs, as [redlock.NewClients] does. Close
// closes these clients too. Its errors name a URL by its position only: a URL may
// hold a password.
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
