package process

import (
	"errors"
	"net"
	"testing"
)

// TestReservePorts: no other caller gets a reserved port until it is released, even while no server listens on it.
func TestReservePorts(t *testing.T) {
	var all []*Ports
	seen := make(map[int]bool)
	for range 50 {
		r, err := ReservePorts(3)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		for _, p := range r.Numbers {
			if seen[p] || p < firstPort || p >= firstPort+ports {
				t.Errorf("%d was reserved twice, or is out of range", p)
			}
			seen[p] = true
		}
	}
	port := all[0].Numbers[0]
	if hold, err := net.ListenPacket("udp", address(port)); err == nil {
		t.Errorf("%d can be reserved once more: %v", port, hold.Close())
	}
	server, err := net.Listen("tcp", address(port))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if err := errors.Join(r.Release(), r.Release()); err != nil {
			t.Error(err)
		}
	}
	if free(port, nil) || free(port-1, []int{1}) {
		t.Error("a port on which somebody listens is taken for free")
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	hold, err := net.ListenPacket("udp", address(port))
	if err != nil {
		t.Errorf("%d was not released: %v", port, err)
	} else if err := hold.Close(); err != nil {
		t.Error(err)
	}
	if err := (*Ports)(nil).Release(); err != nil {
		t.Error(err)
	}
}

// TestReservePortsNone asks for ports beyond the last one.
func TestReservePortsNone(t *testing.T) {
	if r, err := ReservePorts(1, 60_000); !errors.Is(err, ErrNoPort) || r != nil {
		t.Errorf("reserved %v: %v", r, err)
	}
}
