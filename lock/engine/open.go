package engine

import "sync"

// openLeases are the leases of an engine that have not ended.
type openLeases struct {
	mu   sync.Mutex
	open map[*lease]struct{}
}

func newOpenLeases() *openLeases { return &openLeases{open: make(map[*lease]struct{})} }

// stop ends all of them with the cause.
func (o *openLeases) stop(cause error) {
	for _, l := range o.all() {
		l.stop(cause)
	}
}

func (o *openLeases) all() []*lease {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]*lease, 0, len(o.open))
	for l := range o.open {
		all = append(all, l)
	}
	return all
}

func (o *openLeases) remember(l *lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[l] = struct{}{}
}

func (o *openLeases) forget(l *lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, l)
}
