package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/bsm/redislock"
)

// besideRow is lockscope and another library on the same key: neither tells the other that
// it has let go.
type besideRow struct {
	nodes, callers int           // callers of each side, each a process of its own
	hold, rest     time.Duration // how long each holds, and how long until it wants the lock again
	other          peer
}

func (r besideRow) name() string {
	return fmt.Sprintf("%s, %s, %d and %d lockers, hold %v, rest %v",
		r.other.name, nodesText(r.nodes), r.callers, r.callers, r.hold, r.rest)
}

// allBesideRows are the rows of the second table, from top to bottom.
func allBesideRows() []besideRow {
	var rows []besideRow
	for _, nodes := range []int{1, 3} {
		for _, other := range []peer{redsyncPeer(), redislockLinearPeer(), setNXPeer()} {
			if !other.can(work{nodes: nodes, contended: true}) {
				continue
			}
			rows = append(rows,
				besideRow{nodes, 1, 10 * time.Millisecond, 0, other},
				besideRow{nodes, 1, 100 * time.Millisecond, 10 * time.Millisecond, other},
				besideRow{nodes, 8, 10 * time.Millisecond, 100 * time.Millisecond, other},
			)
		}
	}
	return rows
}

// besideResult is how often each side held the lock, over all stretches.
type besideResult struct {
	row          besideRow
	ours, theirs int
	failed       failures
}

// measureBeside does one row after another, as measureAll does.
func measureBeside(ctx context.Context, o options, progress io.Writer) (results []besideResult, err error) {
	s, err := startServers(ctx, 3, o.rtt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, r := range o.besides {
		fmt.Fprintln(progress, r.name())
		result, err := r.measure(ctx, o, s.addrs[:r.nodes])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name(), err)
		}
		results = append(results, result)
	}
	return results, ctx.Err()
}

// measure has both sides want one resource. The even callers are lockscope's, and each
// stretch has a resource of its own.
func (r besideRow) measure(ctx context.Context, o options, addrs []string) (_ besideResult, err error) {
	result := besideResult{row: r}
	w := row{work: work{nodes: r.nodes, contended: true}, lockers: r.callers}
	sides, err := openAll(ctx, w, []peer{lockscopePeer(), r.other}, addrs)
	defer func() { err = errors.Join(err, closeAll(sides)) }()
	if err != nil {
		return result, err
	}
	for n := range o.stretches {
		resource := fmt.Sprintf("beside:%s:%d", r.name(), n)
		book := newLedger(2 * r.callers)
		_, failed := stretch(ctx, 2*r.callers, o.stretch, func(c caller) error {
			side := c.index % 2
			name := resource
			if side == 1 {
				name = ourPrefix + resource
			}
			release, err := sides[side].lockers[c.index/2].Acquire(c.waiting, name)
			switch {
			case err == nil:
				err = holdAndRelease(c, book, r.hold, release)
				rest(c.waiting, r.rest)
			case c.waiting.Err() != nil:
				err = errOver
			case side == 1: // it has used up its tries, and begins again
				err = nil
			}
			return err
		})
		result.failed.merge(failed)
		for i, n := range book.each {
			if i%2 == 0 {
				result.ours += n
			} else {
				result.theirs += n
			}
		}
	}
	return result, nil
}

// ourPrefix is what lockscope's keys begin with: whoever shares a lock with it uses that.
const ourPrefix = "lock:"

func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d/2 + rand.N(d)):
	case <-ctx.Done():
	}
}

// redislockLinearPeer asks again every 100 ms, as redislock's README does.
func redislockLinearPeer() peer {
	return peer{
		name: "redislock every 100 ms",
		can:  func(w work) bool { return w.nodes == 1 },
		open: openRedislock(&redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}),
	}
}

// setNXPeer is SET NX in a loop that asks again every 50 ms: what people write themselves.
func setNXPeer() peer {
	p := goRedisPeer()
	return peer{
		name: "SET NX every 50 ms",
		can:  func(work) bool { return true },
		open: func(ctx context.Context, addrs []string) (locker, error) {
			l, err := p.open(ctx, addrs)
			return retrying{l}, err
		},
	}
}

type retrying struct{ locker }

func (l retrying) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	for {
		release, err := l.locker.Acquire(ctx, resource)
		if err == nil || ctx.Err() != nil {
			return release, err
		}
		rest(ctx, 50*time.Millisecond)
	}
}

func measureBesideTable(ctx context.Context, o options, stdout, stderr io.Writer) error {
	results, err := measureBeside(ctx, o, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n\n", circumstances(o))
	writeBeside(stdout, results)
	return nil
}

func writeBeside(w io.Writer, results []besideResult) {
	lines := [][]string{{"beside", "lockscope", "the other", "lockscope's share"}}
	var failed []string
	for _, r := range results {
		share := float64(r.ours) / float64(max(r.ours+r.theirs, 1))
		lines = append(lines, []string{r.row.name(), fmt.Sprint(r.ours), fmt.Sprint(r.theirs),
			fmt.Sprintf("%.2f", share)})
		if r.failed.count > 0 {
			failed = append(failed, fmt.Sprintf("%s: %d, the first with %q", r.row.name(), r.failed.count,
				r.failed.first))
		}
	}
	writeAligned(w, lines)
	if len(failed) > 0 {
		fmt.Fprintf(w, "\nFailed:\n\n- %s\n", strings.Join(failed, "\n- "))
	}
}
