package main

import (
	"context"
	"errors"
	"time"
)

// ttl is that of every peer that wants to be told. A whole number of seconds would make
// go-redis send EX instead of PX.
const ttl = 10*time.Second + time.Millisecond

var (
	errHeld    = errors.New("held by somebody else")
	errNotHeld = errors.New("released what was not held")
)

// locker is a lock library as one process uses it, with connections of its own. Its
// methods may be called concurrently.
type locker interface {
	// Acquire waits for the resource until ctx ends, if the library can wait; it
	// fails at once if not. The context of release need not be that of Acquire.
	Acquire(ctx context.Context, resource string) (release func(ctx context.Context) error, err error)

	// Close follows when nothing is held any more.
	Close() error
}

// work is what a row asks of a peer.
type work struct {
	nodes      int
	contended  bool // all callers want the same resource, and wait for it
	oneProcess bool // all callers use one locker
}

// peer is a column of the table: a library with the options it is used with.
type peer struct {
	name string

	// can tells whether the peer does such work at all. Where it cannot, its cell
	// stays empty.
	can func(w work) bool

	// open makes one process. A peer that knows one node only uses the first.
	open func(ctx context.Context, addrs []string) (locker, error)

	// prepare, if there is one, does what has to be done once before a resource is
	// contended for.
	prepare func(ctx context.Context, l locker, resource string) error
}

// ready prepares a resource where the peer wants that.
func (p peer) ready(ctx context.Context, l locker, resource string) error {
	if p.prepare == nil {
		return nil
	}
	return p.prepare(ctx, l, resource)
}
