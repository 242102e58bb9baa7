//go:build !unix

package lanes

import "net"

// isStale takes every connection for good here: one that is not fails when it is used.
func isStale(net.Conn) bool { return false }
