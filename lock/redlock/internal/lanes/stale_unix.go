//go:build unix

package lanes

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// isStale checks whether the peer has closed the connection, or said something although
// nothing was asked. A connection that cannot be checked is taken for good.
func isStale(conn net.Conn) bool {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	stale := false
	// Not Read: that fails on every connection that has been idle for longer than go-redis lets its last command take.
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		stale = !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return stale || err != nil
}
