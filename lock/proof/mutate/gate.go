package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/proof/mutate/bugs"
)

// defaultLimit is how long a test may take. One that is to notice by not coming to an end
// has a quarter of it.
const defaultLimit = 80 * time.Second

// gate plants bugs in a tree.
type gate struct {
	tree     *tree
	jobs     int
	limit    time.Duration
	progress io.Writer
	verbose  bool

	mu   sync.Mutex
	done int
}

// run runs every killer without a bug first, and then each bug with its killer.
func (g *gate) run(ctx context.Context, mutants []bugs.Mutant) []result {
	sound := g.baseline(ctx, mutants)
	results := make([]result, len(mutants))
	g.each(len(mutants), func(i int) {
		r := result{Mutant: mutants[i]}
		began := time.Now()
		if r.err = sound[r.Killer]; r.err == nil {
			var s testRun
			if s, r.err = g.try(ctx, r.Mutant); r.err == nil {
				r.output = s.output
				r.verdict, r.how, r.err = judge(r.Mutant, s)
			}
		}
		if r.took = time.Since(began); r.err != nil {
			r.verdict = failed
		}
		results[i] = r
		g.tell(r)
	})
	return results
}

// each calls do for 0 to n-1, as many at a time as there are jobs.
func (g *gate) each(n int, do func(int)) {
	slots := make(chan struct{}, max(g.jobs, 1))
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			do(i)
			<-slots
		})
	}
	all.Wait()
}

// tell says what a bug came to as soon as it is known.
func (g *gate) tell(r result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done++
	fmt.Fprintf(g.progress, "%3d %s: %s (%s, %.1f s) %s\n", g.done, r.verdict, r.Bug, r.Killer, r.took.Seconds(), r.how)
	if g.verbose || r.verdict == survived {
		fmt.Fprintln(g.progress, r.output)
	}
}

// baseline runs each killer once, with no bug planted, and returns why it is of no use.
func (g *gate) baseline(ctx context.Context, mutants []bugs.Mutant) map[bugs.Killer]error {
	var killers []bugs.Killer
	sound := make(map[bugs.Killer]error)
	for _, m := range mutants {
		if _, known := sound[m.Killer]; !known {
			sound[m.Killer] = nil
			killers = append(killers, m.Killer)
		}
	}
	built := make(map[string]func() (string, error))
	for _, k := range killers {
		if built[k.Package] == nil {
			binary := filepath.Join(g.tree.work, fmt.Sprintf("baseline%d.test", len(built)))
			built[k.Package] = sync.OnceValues(func() (string, error) {
				return binary,
					g.tree.build(ctx, k.Package, "", binary)
			})
		}
	}
	var mu sync.Mutex
	g.each(len(killers), func(i int) {
		k := killers[i]
		binary, err := built[k.Package]()
		if err == nil {
			err = g.passes(ctx, binary, k)
		}
		mu.Lock()
		defer mu.Unlock()
		sound[k] = err
	})
	return sound
}

// passes is nil for a test that is there and passes.
func (g *gate) passes(ctx context.Context, binary string, k bugs.Killer) error {
	s, err := g.tree.test(ctx, binary, k, g.limit)
	switch {
	case err != nil:
		return err
	case !s.begun:
		return fmt.Errorf("%s has no test %s to run", k.Package, k.Run)
	case !s.passed:
		return fmt.Errorf("%s fails without a bug:\n%s", k.Run, s.output)
	}
	return nil
}

// try plants one bug and runs its killer.
func (g *gate) try(ctx context.Context, m bugs.Mutant) (s testRun, err error) {
	dir, err := os.MkdirTemp(g.tree.work, "mutant-")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := g.tree.plant(m, dir)
	if err != nil {
		return s, err
	}
	binary := filepath.Join(dir, "mutant.test")
	if err := g.tree.build(ctx, m.Killer.Package, overlay, binary); err != nil {
		return s, err
	}
	limit := g.limit
	if m.Killer.Hangs {
		limit /= 4
	}
	return g.tree.test(ctx, binary, m.Killer, limit)
}
