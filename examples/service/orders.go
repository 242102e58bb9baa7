package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const priceCents = 1999

// errStale says that a charge came with an older fencing token than one before it.
var errStale = errors.New("stale fencing token")

// order is what the service knows of an order.
type order struct {
	ID      string `json:"id"`
	Charges int    `json:"charges"`
	Cents   int    `json:"charged_cents"`
	Fence   uint64 `json:"fence,string"`
}

// orders stands for a database. Each of its methods is atomic, as a statement is;
// what lies between two of them is what the lock is for.
type orders struct {
	chargeTakes time.Duration

	mu   sync.Mutex
	byID map[string]order
}

func newOrders(chargeTakes time.Duration) *orders {
	return &orders{chargeTakes: chargeTakes, byID: make(map[string]order)}
}

func (s *orders) get(id string) (order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.byID[id]
	o.ID = id
	return o, ok
}

// put takes an order unless one with a newer fencing token was taken before: a
// holder whose lease ran out while it slept must not overwrite its successor.
func (s *orders) put(o order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.byID[o.ID].Fence; o.Fence < last {
		return fmt.Errorf("%w: %d for order %s, after %d", errStale, o.Fence, o.ID, last)
	}
	s.byID[o.ID] = o
	return nil
}

// charge reads, asks the payment provider, and writes. Two at the same time would
// lose one charge.
func (s *orders) charge(ctx context.Context, id string, fence uint64) (order, error) {
	o, _ := s.get(id)
	provider := time.NewTimer(s.chargeTakes)
	defer provider.Stop()
	select {
	case <-provider.C:
	case <-ctx.Done(): // the lease is lost, or the client gone
		return o, context.Cause(ctx)
	}
	o.Charges++
	o.Cents += priceCents
	o.Fence = fence
	return o, s.put(o)
}
