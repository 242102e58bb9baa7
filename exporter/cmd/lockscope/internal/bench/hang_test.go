package bench

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// TestHangingConn: nothing arrives on either side, and a read ends with its deadline.
func TestHangingConn(t *testing.T) {
	ours, server := net.Pipe()
	defer ours.Close()
	defer server.Close()
	h := new(hang)
	c := &hangingConn{Conn: ours, hung: &h.now}
	h.now.Store(true)
	if n, err := c.Write([]byte("PING\r\n")); n != 6 || err != nil { // a pipe would block
		t.Errorf("%d bytes, error %v", n, err)
	}
	go func() { _, _ = server.Write([]byte("+PONG\r\n")) }()
	cmdtest.Must(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	if n, err := c.Read(make([]byte, 16)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

// TestQuantile of a few calls, and of none.
func TestQuantile(t *testing.T) {
	var s sample
	if s.quantile(99) != 0 || s.rate() != 0 {
		t.Error("without calls")
	}
	s.ran = time.Second
	for i := range 200 {
		s.took = append(s.took, time.Duration(i+1))
	}
	if s.quantile(50) != 100 || s.quantile(99) != 198 || s.quantile(100) != 200 || s.rate() != 200 {
		t.Error(s.quantile(50), s.quantile(99), s.quantile(100), s.rate())
	}
}

// TestProposal keeps the defaults unless the servers are too slow for them.
func TestProposal(t *testing.T) {
	for _, c := range []struct{ p99, ttl, timeout time.Duration }{
		{time.Millisecond, 10 * time.Second, 500 * time.Millisecond},
		{90 * time.Millisecond, 10 * time.Second, 500 * time.Millisecond},
		{150 * time.Millisecond, 20 * time.Second, time.Second},
		{time.Second, 100 * time.Second, 5 * time.Second},
	} {
		r := newReport(&bench{benchFlags: &benchFlags{ttl: 10 * time.Second}})
		r.rows = []row{
			{kind: kindPair, sample: sample{took: []time.Duration{c.p99}}},
			{kind: kindPair, hung: "r3", sample: sample{took: []time.Duration{time.Hour}}},
		}
		if p, ok := r.propose(); !ok || p.TTL != c.ttl || p.NodeTimeout != c.timeout {
			t.Errorf("p99 %v: %+v", c.p99, p)
		}
	}
}
