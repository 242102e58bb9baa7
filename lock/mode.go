package lock

// Mode says whom a lock excludes: see [InMode].
type Mode int

// The modes of a lock.
const (
	ModeExclusive Mode = iota // everybody else; the default
	ModeRead                  // writers, and ModeExclusive
	ModeWrite                 // everybody else; readers that come later than a waiting writer wait behind it
)

// kind is what views call a lock in this mode.
func (m Mode) kind() Kind {
	switch m {
	case ModeRead:
		return KindRead
	case ModeWrite:
		return KindWrite
	}
	return ""
}
