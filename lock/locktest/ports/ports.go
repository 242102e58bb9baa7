// Package ports reserves ports on loopback for servers that tests start, kill and start
// again on the same one, beside other tests that do so.
//
// It is for lockscope's own packages.
package ports

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
	first, count = 12000, 10000

	draws = 100 // to find one that is free
)

// ErrNone says that no free port was found.
var ErrNone = fmt.Errorf("no free port found between %d and %d", first, first+count-1)

// Reservation keeps ports from being reserved by anybody else, in this process or another,
// until Release, at the latest until the process ends. It holds the UDP ports of the same
// numbers: TCP's are left to the servers, whether they run or not.
type Reservation struct {
	Ports []int
	holds []net.PacketConn
}

// Reserve reserves n different ports of 127.0.0.1 on which nobody listens. With offsets, nobody listens
// that far above any of them either; those are not reserved. Release must follow.
func Reserve(n int, offsets ...int) (*Reservation, error) {
	r := &Reservation{}
	for range n {
		if err := r.add(offsets); err != nil {
			return nil, errors.Join(err, r.Release())
		}
	}
	return r, nil
}

func (r *Reservation) add(offsets []int) error {
	for range draws {
		port := first + rand.IntN(count)
		hold, err := net.ListenPacket("udp", address(port))
		if err != nil {
			continue
		}
		if free(port, offsets) {
			r.Ports, r.holds = append(r.Ports, port), append(r.holds, hold)
			return nil
		}
		if err := hold.Close(); err != nil {
			return err
		}
	}
	return ErrNone
}

// Release lets others reserve the ports. Once more it does nothing, and neither on nil.
func (r *Reservation) Release() error {
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
