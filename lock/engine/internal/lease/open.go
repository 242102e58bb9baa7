package lease

import "sync"

// Open are the leases of an engine that have not ended.
type Open struct {
	mu   sync.Mutex
	open map[*Lease]struct{}
}

// NewOpen makes an empty set of leases.
func NewOpen() *Open { return &Open{open: make(map[*Lease]struct{})} }

// Stop ends all of them with the cause.
func (o *Open) Stop(cause error) {
	for _, l := range o.all() {
		l.stop(cause)
	}
}

func (o *Open) all() []*Lease {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]*Lease, 0, len(o.open))
	for l := range o.open {
		all = append(all, l)
	}
	return all
}

func (o *Open) remember(l *Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[l] = struct{}{}
}

func (o *Open) forget(l *Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, l)
}
