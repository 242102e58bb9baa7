package judge

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/report"
)

func TestAbout(t *testing.T) {
	for _, c := range []struct {
		key  string
		of   lock.Holder
		want string
	}{
		{"lock:exports#3", lock.Holder{Kind: lock.KindSemaphore, Slots: 5}, "slot 3 of semaphore exports: "},
		{"lock:exports", lock.Holder{Kind: lock.KindSemaphore, Slots: 5}, "semaphore exports: "},
		{"lock:billing", lock.Holder{Kind: lock.KindElection}, "election billing: "},
		{"lock:account:1", lock.Holder{Kind: lock.KindSet}, "account:1, held as part of a set: "},
		{"lock:exports#3", lock.Holder{}, ""},
	} {
		if got := About(c.key, &report.Hold{Holder: c.of}, []string{"lock:*", "lock:exports#3"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
}
