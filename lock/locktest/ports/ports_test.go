package ports

import (
	"errors"
	"net"
	"testing"
)

// TestReserve: no other caller gets a reserved port until it is released, even while no server listens on it.
func TestReserve(t *testing.T) {
	var all []*Reservation
	seen := make(map[int]bool)
	for range 50 {
		r, err := Reserve(3)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		for _, p := range r.Ports {
			if seen[p] || p < first || p >= first+count {
				t.Errorf("%d was reserved twice, or is out of range", p)
			}
			seen[p] = true
		}
	}
	port := all[0].Ports[0]
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
	if err := (*Reservation)(nil).Release(); err != nil {
		t.Error(err)
	}
}

// TestReserveNone asks for ports beyond the last one.
func TestReserveNone(t *testing.T) {
	if r, err := Reserve(1, 60_000); !errors.Is(err, ErrNone) || r != nil {
		t.Errorf("reserved %v: %v", r, err)
	}
}
