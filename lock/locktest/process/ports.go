package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	// Ports are drawn from below the ranges that systems take outgoing connections' ports
	// from (Linux 32768 and up, macOS 49152 and up): while a killed server's port is idle,
	// any outgoing connection could be given it, and the restart would fail.
	firstPort, ports = 12000, 10000

	draws = 100 // to find one that is free
)

// ErrNoPort says that no free port was found.
var ErrNoPort = fmt.Errorf("no free port found between %d and %d", firstPort, firstPort+ports-1)

// Ports keeps its ports from being reserved by anybody else, in this process or another,
// until Release, at the latest until the process ends. It holds the UDP ports of the same
// numbers: TCP's are left to the servers, whether they run or not.
type Ports struct {
	Numbers []int
	holds   []net.PacketConn
}

// ReservePorts reserves n different ports of 127.0.0.1 on which nobody listens. With offsets, nobody listens
// that far above any of them either; those are not reserved. Release must follow.
func ReservePorts(n int, offsets ...int) (*Ports, error) {
	r := &Ports{}
	for range n {
		if err := r.add(offsets); err != nil {
			return nil, errors.Join(err, r.Release())
		}
	}
	return r, nil
}

func (r *Ports) add(offsets []int) error {
	for range draws {
		port := firstPort + rand.IntN(ports)
		hold, err := net.ListenPacket("udp", address(port))
		if err != nil {
			continue
		}
		if free(port, offsets) {
			r.Numbers, r.holds = append(r.Numbers, port), append(r.holds, hold)
			return nil
		}
		if err := hold.Close(); err != nil {
			return err
		}
	}
	return ErrNoPort
}

// Release lets others reserve the ports again. Once more it does nothing, and neither on nil.
func (r *Ports) Release() error {
	if r == nil {
		return nil
	}
	var errs []error
	for _, hold := range r.holds {
		errs = append(errs, hold.Close())
	}
	r.holds = nil
	return errors.Join(errs...)
}

func free(port int, offsets []int) bool {
	for _, offset := range append([]int{0}, offsets...) {
		l, err := net.Listen("tcp", address(port+offset))
		if err != nil || l.Close() != nil {
			return false
		}
	}
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
