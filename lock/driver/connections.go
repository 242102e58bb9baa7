package driver

// Connected is an optional interface of a [Node] that counts its connections.
type Connected interface {
	// Connections returns a snapshot, from memory. It may be called concurrently, and after Close.
	Connections() Connections
}

// Connections counts a node's connections to its server, without those that listen for wake-ups.
type Connections struct {
	Open    int // connections that commands can be sent on
	Busy    int // open connections with a command under way
	Waiting int // commands that wait for a connection
	// Dials is how many dials have ended since the node was made; DialFailures is how many
	// of them failed. A dial includes the guard's first check of the server.
	Dials, DialFailures uint64
}
