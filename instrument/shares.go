package instrument

import "github.com/lockscope/lockscope/lock"

// Shares returns nil if the wrapped Locker has read/write locks; see [lock.Shares].
func (l *Locker) Shares() error { return lock.Shares(l.next) }
