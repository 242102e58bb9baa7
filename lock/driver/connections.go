package driver

// Connected is a [Node] that tells of the connections it has made itself. A node need not be one.
type Connected interface {
	// Connections returns a snapshot, from memory. It may be called concurrently, and after Close.
	Connections() Connections
}

// Connections says how a node is connected to its server. What listens for wake-ups is not
// counted: no command waits for it.
type Connections struct {
	Open    int // connections that commands can be sent on
	Busy    int // those of them that carry commands
	Waiting int // commands that no connection has taken yet
	// Dials are those that have ended, DialFailures those of them that made no connection, both
	// since the node was made. The guard's first look at the server is part of a dial.
	Dials, DialFailures uint64
}
