package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/scanner"
)

// sweptAtOnce bounds how many groups are swept or listed at a time: each reads several
// servers at once by itself.
const sweptAtOnce = 8

// group is servers with a Scanner of their own.
type group struct {
	name     string // "" if flags name the servers
	origin   string // of what it was made; the same for the same; a hash
	nodes    []target.Node
	replicas []target.Node
	locker   *engine.Engine // of --elect, else nil
	scanner  *scanner.Scanner
}

// close ends the Scanner, and its connections and those of the group.
func (g *group) close() error {
	var errs []error
	if g.scanner != nil {
		errs = append(errs, g.scanner.Close())
	}
	if g.locker != nil {
		errs = append(errs, g.locker.Close())
	}
	closeNodes(g.nodes)
	closeNodes(g.replicas)
	return errors.Join(errs...)
}

// groups are all servers of a command. It does not change.
type groups []*group

func (all groups) close() error {
	errs := make([]error, len(all))
	all.each(func(i int, g *group) { errs[i] = g.close() })
	return errors.Join(errs...)
}

func (all groups) nodes() (nodes []target.Node) {
	for _, g := range all {
		nodes = append(nodes, g.nodes...)
	}
	return nodes
}

// differ refuses two servers of one name: metrics and reports could not tell them apart.
func (all groups) differ() error {
	of := make(map[string]string)
	for _, g := range all {
		for _, n := range g.nodes {
			if other, taken := of[n.Name]; taken && g.name != "" {
				return fmt.Errorf("groups %s and %s both have the server %s: name it once", other, g.name, n.Name)
			}
			of[n.Name] = g.name
		}
	}
	return nil
}

func (all groups) each(do func(i int, g *group)) {
	slots := make(chan struct{}, sweptAtOnce)
	var wg sync.WaitGroup
	for i, g := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i, g)
		})
	}
	wg.Wait()
}

// sweep returns the groups' reports, in their order, and the joined error.
func (all groups) sweep(ctx context.Context) ([]scanner.Report, error) {
	reports, errs := make([]scanner.Report, len(all)), make([]error, len(all))
	all.each(func(i int, g *group) { reports[i], errs[i] = g.scanner.Sweep(ctx) })
	return reports, errors.Join(errs...)
}

// Snapshot implements exporter.Snapshotter.
func (all groups) Snapshot() scanner.Snapshot {
	snapshots := make([]scanner.Snapshot, len(all))
	for i, g := range all {
		snapshots[i] = g.scanner.Snapshot()
	}
	return scanner.MergeSnapshots(snapshots...)
}

// List is scanner.Scanner.List of all groups.
func (all groups) List(ctx context.Context, o scanner.ListOptions) (scanner.Listing, error) {
	listings, errs := make([]scanner.Listing, len(all)), make([]error, len(all))
	all.each(func(i int, g *group) { listings[i], errs[i] = g.scanner.List(ctx, o) })
	return scanner.MergeListings(o, listings...), errors.Join(errs...)
}

// Waits is scanner.Scanner.Waits of all groups.
func (all groups) Waits(ctx context.Context) (*scanner.Waits, error) {
	waits, errs := make([]*scanner.Waits, len(all)), make([]error, len(all))
	all.each(func(i int, g *group) { waits[i], errs[i] = g.scanner.Waits(ctx) })
	return scanner.MergeWaits(waits...), errors.Join(errs...)
}

// start begins the sweeps of those that sweep by themselves.
func (all groups) start() error {
	for _, g := range all {
		if err := g.scanner.Start(); err != nil && !errors.Is(err, scanner.ErrStarted) {
			return err
		}
	}
	return nil
}
