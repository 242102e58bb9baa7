package leaktest

import (
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// tests end with a status, and leave behind a goroutine that waits for the channel.
type tests struct {
	status int
	stop   chan struct{}
}

func (l tests) Run() int {
	go l.wait()
	return l.status
}

func (l tests) wait() { <-l.stop }

func TestTestsThatPassAndLeaveAGoroutineFail(t *testing.T) {
	stop := make(chan struct{})
	before := Running()
	var out strings.Builder
	if status := run(tests{0, stop}, 0, &out); status != 1 || !strings.Contains(out.String(), "leaktest.tests.wait(") {
		t.Errorf("status %d, and it says: %s", status, &out)
	}
	out.Reset()
	if status := run(tests{2, stop}, 0, &out); status != 2 || out.Len() > 0 {
		t.Errorf("tests that fail end with status %d and %q", status, &out)
	}
	close(stop)
	Check(t, before)
	if status := run(tests{0, stop}, patience, &out); status != 0 || out.Len() > 0 {
		t.Errorf("a goroutine that ends soon: status %d, and it says: %s", status, &out)
	}
}
