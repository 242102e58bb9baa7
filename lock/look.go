package lock

// Look says that an Acquire is one of several that a construct makes for one call of its own. Package semaphore sets it
// in its [AcquireOptions], for decorators that count calls. It changes nothing about the lock.
type Look int

// The values of AcquireOptions.Look.
const (
	// LookAlone is not one of several, or it is the last one.
	LookAlone Look = iota
	// LookOn means that the caller goes on with another slot if this one is held.
	LookOn
	// LookWaits means that the caller goes on, or waits, if the slot is held or too few nodes answer.
	LookWaits
	// LookBeside means that the caller waits in another Acquire meanwhile.
	LookBeside
)

// Ends reports whether an Acquire that failed with err ended the call of the construct, too.
func (l Look) Ends(err error) bool {
	switch l {
	case LookOn:
		return ReasonOf(err) != ReasonHeld
	case LookWaits:
		reason := ReasonOf(err)
		return reason != ReasonHeld && reason != ReasonNoQuorum
	case LookBeside:
		return false
	default:
		return true
	}
}
