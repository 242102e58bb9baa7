package holders

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// readersHolder describes the oldest reader of a read/write lock of lockscope, as [keyreader.Oldest] finds it.
func readersHolder(v *keyreader.Value) (oldest inspect.Hold, ok bool) {
	first := keyreader.Oldest(v.ReadLeases())
	for _, f := range v.Fields {
		fence, _, h, ok := stored.ParseReader(f[0], f[1])
		if !ok {
			return inspect.Hold{}, false
		}
		if f[0] == first.Token {
			oldest = inspect.Hold{Holder: h, Format: inspect.FormatLockscope, Fence: fence}
		}
	}
	return oldest, first.Token != ""
}

// Readers reports whether the value is the readers of a read/write lock of lockscope, as far as they were read.
func Readers(v *keyreader.Value) bool {
	_, ok := readersHolder(v)
	return ok
}

// Subject returns what a finding of the class is about. For the readers of a lock that is one of them: the one that a
// finding already has (same is true of its identity), else the one that ends last if the TTL is too long, else the
// oldest. A missing TTL concerns all readers. Any other value is its own subject. same may be nil.
func Subject(class inspect.Class, v *keyreader.Value, same func(identity string) bool) *keyreader.Value {
	if v.Type != keyreader.Hash || !Readers(v) {
		return v
	}
	readers := v.ReadLeases()
	for i := range readers {
		if one := v.Only(&readers[i]); same != nil && class != inspect.NoTTL && same(one.Identity()) {
			return one
		}
	}
	of := keyreader.Oldest(readers)
	switch class {
	case inspect.NoTTL:
		return v
	case inspect.LongTTL:
		for _, r := range readers {
			if r.Ends.After(of.Ends) {
				of = r
			}
		}
	}
	return v.Only(&of)
}

// Votes returns the parts of the value that each stand for one attempt: the value itself, or of readers of lockscope
// each whose time is not over. now counts where the key never expires.
func Votes(v *keyreader.Value, now time.Time) (all []*keyreader.Value) {
	if !Readers(v) {
		return []*keyreader.Value{v}
	}
	readers := v.ReadLeases()
	for i := range readers {
		if r := &readers[i]; !r.Over() && (r.Left != keyreader.Never || r.Ends.After(now)) {
			all = append(all, v.Only(r))
		}
	}
	return all
}
