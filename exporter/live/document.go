package live

import "github.com/lockscope/lockscope/exporter/live/state"

// The document of a Board; package state describes it.
type (
	State       = state.State       // what a process knows about its locks at one instant
	Totals      = state.Totals      // counts of everything, listed or not
	Recent      = state.Recent      // the last minute of Acquire calls
	Objectives  = state.Objectives  // limits for waits; see WithObjectives
	Omitted     = state.Omitted     // what the limits of a State left out
	Held        = state.Held        // one held lock
	Construct   = state.Construct   // what a lock is part of
	Reading     = state.Reading     // who reads a read/write lock
	Waiter      = state.Waiter      // one Acquire that has not ended
	Blocker     = state.Blocker     // the holder that a Waiter waits for
	Blocked     = state.Blocked     // a resource with waiters
	ByClass     = state.ByClass     // waiting calls by the class of their wait
	Link        = state.Link        // from a holder to what it waits for
	Deadlock    = state.Deadlock    // a cycle of holders that wait for one another
	History     = state.History     // past holders of a contended resource
	Tenure      = state.Tenure      // one lease that has ended, or a holder in another process
	Inflicted   = state.Inflicted   // how long others waited behind one holder
	WaitPoint   = state.WaitPoint   // one second of finished Acquire calls
	Stall       = state.Stall       // a time in which calls waited and none acquired anything
	Node        = state.Node        // the health of one node
	NodeSet     = state.NodeSet     // nodes that vote together
	Restart     = state.Restart     // a node may have forgotten locks
	Acquisition = state.Acquisition // one finished Acquire call with its steps
	Step        = state.Step        // a part of an Acquisition
)

// Who waited for whom; see Board.WaitHistory and Board.WaitChains.
type (
	WaitHistory  = state.WaitHistory  // the waits of a span of time
	WaitedClass  = state.WaitedClass  // the waiting of one class
	PastBlocker  = state.PastBlocker  // a holder that calls waited for
	PastResource = state.PastResource // a resource that calls waited for
	WaitedPart   = state.WaitedPart   // a part of the waiting for a blocker or a resource
	WaitChain    = state.WaitChain    // a waiting call, its blocker, and what that waited for
	PastLink     = state.PastLink     // a part of a WaitChain
)

// The states of a Node.
const (
	NodeUp          = state.NodeUp
	NodeShaky       = state.NodeShaky
	NodeQuarantined = state.NodeQuarantined
	NodeBarred      = state.NodeBarred
	NodeDown        = state.NodeDown
	NodeUnknown     = state.NodeUnknown
)

// Bounds of a State.
const (
	// MaxSteps is how many steps an Acquisition has at most: the first half in order, then the latest.
	MaxSteps = state.MaxSteps
	// MaxChain is how many links the chain of a Blocked resource has at most.
	MaxChain = state.MaxChain
	// SlowestFor is how long one of the slowest acquisitions is kept.
	SlowestFor = state.SlowestFor
	// NodesFor is the time span of the health of nodes.
	NodesFor = state.NodesFor
	// HistoryFor is how long past holders of contended resources are kept.
	HistoryFor = state.HistoryFor
	// WaitHistoryFor is how long samples of waiting calls are kept.
	WaitHistoryFor = state.WaitHistoryFor
	// MaxInflicted is how many holders State.Inflicted has at most.
	MaxInflicted = state.MaxInflicted
	// HandedOver is the Inflicted.Holder of locks that are kept for the next waiter.
	HandedOver = state.HandedOver
	// InflictedFor is the time span of State.Inflicted.
	InflictedFor = state.InflictedFor
)
