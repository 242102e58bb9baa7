package redisproc

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"

	// Ports are drawn from below the ranges that systems take outgoing connections' ports from (Linux 32768 and up, macOS
	// 49152 and up), with their bus ports. Port 0 would draw from inside: while a killed server's port is idle, any
	// outgoing connection may then be given it, and the restart fails.
	firstPort, portCount = 12000, 10000

	// busOffset is where Redis Cluster puts a node's bus port.
	busOffset = 10000

	portDraws = 100 // to find one that is free
)

var errNoPort = errors.New("redisproc: no free port found between 12000 and 21999")

// freePort returns a port that, together with its bus port, was free a moment ago. Starting may still find it taken.
func freePort() (int, error) {
	for range portDraws {
		port := firstPort + rand.IntN(portCount)
		if isFree(port) && isFree(port+busOffset) {
			return port, nil
		}
	}
	return 0, errNoPort
}

func isFree(port int) bool {
	ln, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	ln.Close()
	return true
}

func address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
