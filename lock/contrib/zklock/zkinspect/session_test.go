package zkinspect

import (
	"net"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// TestTheFirstAnswerIsNotAwaitedForLong: later ones are, as long as the client says.
func TestTheFirstAnswerIsNotAwaitedForLong(t *testing.T) {
	for servers, want := range map[int]time.Duration{
		1: inspect.DialTimeout, 2: inspect.DialTimeout / 2, 3: inspect.DialTimeout / 3, 7: inspect.DialTimeout / 3,
	} {
		if got := firstAnswer(servers); got != want {
			t.Errorf("%d servers: %v, want %v", servers, got, want)
		}
	}
	set := &deadlines{}
	c := &sessionConn{Conn: set, reader: &sessionReader{first: time.Second}}
	in := func(d time.Duration) time.Duration {
		if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
		return time.Until(set.last)
	}
	if got := in(time.Minute); got > time.Second {
		t.Errorf("the first: %v", got)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil || !set.last.IsZero() {
		t.Errorf("no deadline became %v, %v", set.last, err)
	}
	c.read = true
	if got := in(time.Hour); got < time.Minute {
		t.Errorf("a later one: %v", got)
	}
}

// deadlines records the deadlines that a client sets.
type deadlines struct {
	net.Conn
	last time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.last = t
	return nil
}
