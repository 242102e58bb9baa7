package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
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
func (g *gate) run(ctx context.Context, planted []bug) []result {
	sound := g.baseline(ctx, planted)
	results := make([]result, len(planted))
	g.each(len(planted), func(i int) {
		r := result{bug: planted[i]}
		began := time.Now()
		if r.err = sound[r.killer]; r.err == nil {
			var s testRun
			if s, r.err = g.try(ctx, r.bug); r.err == nil {
				r.output = s.output
				r.verdict, r.how, r.err = judge(r.bug, s)
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
	fmt.Fprintf(g.progress, "%3d %s: %s (%s, %.1f s) %s\n", g.done, r.verdict, r.name, r.killer.run, r.took.Seconds(), r.how)
	if g.verbose || r.verdict == survived {
		fmt.Fprintf(g.progress, "%s: %s\n%s\n", r.what, r.why, r.output)
	}
}

// baseline runs each killer once, with no bug planted, and returns why it is of no use.
func (g *gate) baseline(ctx context.Context, planted []bug) map[killer]error {
	var killers []killer
	sound := make(map[killer]error)
	for _, b := range planted {
		if _, known := sound[b.killer]; !known {
			sound[b.killer] = nil
			killers = append(killers, b.killer)
		}
	}
	built := make(map[string]func() (string, error))
	for _, k := range killers {
		if built[k.pkg] == nil {
			binary := filepath.Join(g.tree.work, fmt.Sprintf("baseline%d.test", len(built)))
			built[k.pkg] = sync.OnceValues(func() (string, error) {
				return binary,
					g.tree.build(ctx, k.pkg, "", binary)
			})
		}
	}
	var mu sync.Mutex
	g.each(len(killers), func(i int) {
		k := killers[i]
		binary, err := built[k.pkg]()
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
func (g *gate) passes(ctx context.Context, binary string, k killer) error {
	s, err := g.tree.test(ctx, binary, k, g.limit)
	switch {
	case err != nil:
		return err
	case !s.begun:
		return fmt.Errorf("%s has no test %s to run", k.pkg, k.run)
	case !s.passed:
		return fmt.Errorf("%s fails without a bug:\n%s", k.run, s.output)
	}
	return nil
}

// try plants one bug and runs its killer.
func (g *gate) try(ctx context.Context, b bug) (s testRun, err error) {
	dir, err := os.MkdirTemp(g.tree.work, "bug-")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := g.tree.plant(b, dir)
	if err != nil {
		return s, err
	}
	binary := filepath.Join(dir, "bug.test")
	if err := g.tree.build(ctx, b.killer.pkg, overlay, binary); err != nil {
		return s, err
	}
	limit := g.limit
	if b.killer.hangs {
		limit /= 4
	}
	return g.tree.test(ctx, binary, b.killer, limit)
}
