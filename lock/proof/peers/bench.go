package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// result is a row with what has been measured of it.
type result struct {
	row   row
	cells map[string]*cell // by the name of the peer; those that cannot do it have none
}

// cell is what one peer did in one row.
type cell struct {
	values, besides []float64 // one of each stretch
	failed          failures
}

// contestant is a peer with its lockers open.
type contestant struct {
	peer
	lockers []locker
	cell    *cell
}

// measureAll starts the servers and does one row after another. It fails if a server or
// a peer does not start, and when ctx ends; that a peer fails at its work is a result.
func measureAll(ctx context.Context, o options, peers []peer, progress io.Writer) (results []result, err error) {
	nodes := 0
	for _, r := range o.rows {
		nodes = max(nodes, r.work.nodes)
	}
	s, err := startServers(ctx, nodes, o.rtt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i, r := range o.rows {
		fmt.Fprintf(progress, "%d of %d: %s\n", i+1, len(o.rows), r.name)
		measured, err := measureRow(ctx, o, r, peers, s.addrs[:r.work.nodes])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		results = append(results, measured)
	}
	return results, nil
}

// measureRow has the peers take turns, so that all see the same machine. A short stretch
// of each comes first, which makes connections and loads scripts: of it only failures
// count.
func measureRow(ctx context.Context, o options, r row, peers []peer, addrs []string) (_ result, err error) {
	contestants, err := openAll(ctx, r, peers, addrs)
	defer func() { err = errors.Join(err, closeAll(contestants)) }()
	if err != nil {
		return result{}, err
	}
	const warmUp = -1
	for n := warmUp; n < o.stretches; n++ {
		for i := range contestants {
			c := contestants[(i+n-warmUp)%len(contestants)] // nobody always follows the same one
			out, err := c.work(ctx, o, r, n)
			if err != nil {
				return result{}, err
			}
			c.cell.failed.merge(out.failed)
			if n != warmUp {
				c.cell.values = append(c.cell.values, out.value)
				c.cell.besides = append(c.cell.besides, out.beside)
			}
		}
	}
	cells := make(map[string]*cell, len(contestants))
	for _, c := range contestants {
		cells[c.name] = c.cell
	}
	return result{row: r, cells: cells}, nil
}

// work is one stretch. Its resource is used by no other: what a cancelled call leaves
// behind is in nobody's way.
func (c contestant) work(ctx context.Context, o options, r row, n int) (outcome, error) {
	resource := fmt.Sprintf("%s:%s:%d", c.name, r.name, n)
	if err := c.ready(ctx, c.lockers[0], resource); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", c.name, err)
	}
	d := o.stretch
	if n < 0 {
		d /= 4
	}
	out := r.measure(ctx, r, c.lockers, resource, d)
	if r.unit == latency && o.rtt > 0 {
		out.beside = math.NaN() // the proxies allocate, too
	}
	return out, ctx.Err()
}

// openAll opens the lockers of every peer that can do the row. What it returns is to be
// closed, also with an error.
func openAll(ctx context.Context, r row, peers []peer, addrs []string) ([]contestant, error) {
	var all []contestant
	for _, p := range peers {
		if !p.can(r.work) {
			continue
		}
		c := contestant{peer: p, cell: new(cell)}
		var err error
		for len(c.lockers) < r.lockers && err == nil {
			var l locker
			if l, err = p.open(ctx, addrs); err == nil {
				c.lockers = append(c.lockers, l)
			}
		}
		all = append(all, c)
		if err != nil {
			return all, fmt.Errorf("open %s: %w", p.name, err)
		}
	}
	return all, nil
}

func closeAll(contestants []contestant) error {
	var errs []error
	for _, c := range contestants {
		for _, l := range c.lockers {
			if err := l.Close(); err != nil {
				errs = append(errs, fmt.Errorf("close %s: %w", c.name, err))
			}
		}
	}
	return errors.Join(errs...)
}
