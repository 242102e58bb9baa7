package attempt

// Phase is how far an attempt has come.
type Phase uint8

// An attempt goes through these in turn, or ends early.
const (
	Idle   Phase = iota // not begun
	Asking              // the acquire was sent, and is not decided
	Held                // it is a lease, and valid as far as its holder can tell
	Over
)

// Acquire is the state of an acquire on a node.
type Acquire uint8

// Late comes after Pending, when the client no longer waits.
const (
	Unsent  Acquire = iota // or of no interest any more
	Pending                // under way
	Granted
	Refused // or not answered
	Late    // given up, and may still be carried out
)

// Extend is what has become of an extend of this round on a node.
type Extend uint8

// An extend that puts a lost key back is NotVoted.
const (
	NotExtended Extend = iota
	Extending
	Extended // a vote
	NotVoted
)

// Release is what has become of a release on a node.
type Release uint8

// Undone and what follows it are releases that the node has carried out.
const (
	NotReleased Release = iota
	Releasing
	Undone // the node does not have the token, and will not
	Buried // as Undone; and it left a tombstone
	Forgot // the node has lost its memory since: nothing is claimed
	Kept   // the node has the token for the rest of a minimum hold: nothing is claimed of its key
)
