package redisproc

import (
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"

	// busOffset is where Redis Cluster puts a node's bus port.
	busOffset = 10000
)

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
