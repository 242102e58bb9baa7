package holders

import (
	"slices"
	"time"
)

// Begin starts a round, before its first look.
func (w *Watch) Begin(node string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rounds[w.place(node)].began = now
}

// EndRound ends a round that looked at every lock of a node. Locks that it did not see are gone.
func (w *Watch) EndRound(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	place := w.place(node)
	r := &w.rounds[place]
	w.removeAll(func(e *lease) bool { return e.node == place && e.round != r.number })
	r.number++
	r.done, r.looking = r.began, false
	w.settle()
}

// settle applies what the end of any node's round changes for all.
func (w *Watch) settle() {
	for _, k := range w.fresh {
		if e, ok := w.seen[k]; ok {
			e.fresh = false
			w.seen[k] = e
		}
	}
	if !slices.ContainsFunc(w.rounds, func(r round) bool { return r.looking }) {
		w.removeAll(func(e *lease) bool { return e.node == adrift })
	}
	if w.crowded {
		for i := range w.rounds {
			w.rounds[i].done = time.Time{}
		}
	}
	w.whole = time.Time{}
	if rounds := w.current(); len(rounds) > 0 {
		w.whole = slices.MinFunc(rounds, func(a, b round) int { return a.done.Compare(b.done) }).done
	}
	w.draw()
	w.fresh, w.crowded = w.fresh[:0], false
}

// current returns the rounds of the existing nodes.
func (w *Watch) current() []round {
	return slices.DeleteFunc(slices.Clone(w.rounds), func(r round) bool { return r.node == "" })
}

func (w *Watch) removeAll(which func(e *lease) bool) {
	for k, e := range w.seen {
		if which(&e) {
			w.remove(k)
		}
	}
}

// Keep sets the existing nodes. The locks of other nodes are adrift until each of these has been read.
func (w *Watch) Keep(nodes []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := make(map[int]bool)
	for i := range w.rounds {
		if r := &w.rounds[i]; r.node != "" && !slices.Contains(nodes, r.node) {
			r.node, gone[i] = "", true
		}
	}
	if len(gone) == 0 {
		return
	}
	for k, e := range w.seen {
		if gone[e.node] {
			e.node = adrift
			w.seen[k] = e
		}
	}
	w.without = 0
	clear(w.refused)
	for _, node := range nodes {
		w.rounds[w.place(node)].looking = true
	}
}
