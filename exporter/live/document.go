package live

import "github.com/lockscope/lockscope/exporter/live/state"

// The document that a Board gives: package state describes it.
type (
	State       = state.State       // what a process knows about its locks at one instant
	Totals      = state.Totals      // counts of what there is, listed or not
	Recent      = state.Recent      // the last minute of Acquires
	Objectives  = state.Objectives  // how long a wait may take; see WithObjectives
	Omitted     = state.Omitted     // what the limits of a State left out
	Held        = state.Held        // one lock that is held
	Waiter      = state.Waiter      // one Acquire that has not ended
	Blocker     = state.Blocker     // who a Waiter waits for
	Blocked     = state.Blocked     // a resource that somebody waits for
	Link        = state.Link        // from a holder to what it waits for
	Deadlock    = state.Deadlock    // a cycle of holders that wait for one another
	History     = state.History     // who held a resource while somebody waited for it
	Tenure      = state.Tenure      // one lease that has ended, or a holder elsewhere
	WaitPoint   = state.WaitPoint   // one second of finished Acquires
	Node        = state.Node        // the health of one node
	Restart     = state.Restart     // a node may have forgotten locks
	Acquisition = state.Acquisition // one finished Acquire and where its time went
	Step        = state.Step        // a part of an Acquisition
)

// The states of a Node.
const (
	NodeUp          = state.NodeUp
	NodeQuarantined = state.NodeQuarantined
	NodeBarred      = state.NodeBarred
	NodeDown        = state.NodeDown
)

// Bounds of a State.
const (
	// MaxSteps is how many steps an Acquisition has: the first half as they came, then
	// the latest.
	MaxSteps = state.MaxSteps
	// MaxChain is how many links of a chain a Blocked resource has.
	MaxChain = state.MaxChain
	// SlowestFor is how long one of the slowest acquisitions is kept.
	SlowestFor = state.SlowestFor
	// NodesFor is the time over which the health of nodes is told.
	NodesFor = state.NodesFor
	// HistoryFor is how long it is remembered who held a resource that somebody waited for.
	HistoryFor = state.HistoryFor
)
