package lock

// Operation is a kind of command on a node.
type Operation string

// The operations of a node.
const (
	OpAcquire   Operation = "acquire"
	OpRaise     Operation = "raise" // second round of a fencing token
	OpExtend    Operation = "extend"
	OpRelease   Operation = "release"
	OpLeave     Operation = "leave" // a waiter leaves the queue
	OpSubscribe Operation = "subscribe"
	OpVouch     Operation = "vouch"  // of set-up code; not reported to traces
	OpPeek      Operation = "peek"   // who holds a resource; not reported to traces
	OpRevoke    Operation = "revoke" // ends a lease of somebody else; not reported to traces
)
