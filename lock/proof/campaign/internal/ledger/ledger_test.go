//go:build linux

package ledger_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
)

// TestOldFencesAreRejected goes over the socket, as workers do.
func TestOldFencesAreRejected(t *testing.T) {
	l := ledger.New()
	server, err := ledger.Serve(l)
	must(t, err)
	client, err := ledger.Dial(server.Addr())
	must(t, err)

	write := func(fence uint64, version int64, want bool) {
		t.Helper()
		accepted, err := client.Write(ledger.Entry{Resource: "a", Fence: fence, Version: version, Worker: "w"})
		must(t, err)
		if accepted != want {
			t.Errorf("a write with fence %d: accepted %t, want %t", fence, accepted, want)
		}
	}
	write(5, 1, true)
	write(5, 2, true)
	write(4, 3, false)
	if version, accepted, err := client.Read("a", 7); version != 2 || !accepted || err != nil {
		t.Errorf("read version %d, %t, %v", version, accepted, err)
	}
	write(6, 4, false) // a read has shown a higher one
	if _, accepted, err := client.Read("a", 6); accepted || err != nil {
		t.Errorf("an old reader: %t, %v", accepted, err)
	}
	if highest, err := client.Highest("a"); highest != 7 || err != nil {
		t.Errorf("the highest fence is %d, %v", highest, err)
	}
	if _, accepted, err := client.Read("b", 1); !accepted || err != nil {
		t.Errorf("another resource: %t, %v", accepted, err)
	}
	must(t, client.Close())
	must(t, server.Close())
	entries, rejected := l.Entries()
	if len(entries) != 2 || entries[1].Version != 2 || entries[1].T < entries[0].T || rejected != 3 {
		t.Errorf("%d rejected, accepted %v", rejected, entries)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
