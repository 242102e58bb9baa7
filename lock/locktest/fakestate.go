package locktest

import (
	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// commands are what a server does at one instant, on one connection.
type commands struct {
	memstate.Instant
	sight    guard.Sight   // of the connection
	readOnly bool          // a replica: every script of package redlock writes, or might
	info     func() string // INFO
}
