package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
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
		{"job_billing", lock.Holder{Kind: lock.KindElection}, "election billing: "},
	} {
		if got := About(c.key, &inspect.Hold{Holder: c.of}, []string{"lock:*", "lock:exports#3", "job_*"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
	// A pattern that ends within a name takes nothing of it away.
	h := inspect.Hold{Holder: lock.Holder{Kind: lock.KindElection}}
	for _, pattern := range []string{"lock:b*", "lock:billing"} {
		if got := About("lock:billing", &h, []string{pattern}); got != "election billing: " {
			t.Errorf("%s: %q", pattern, got)
		}
	}
}

// TestLooks: the second look of a sweep belongs to the same round, and is a look.
func TestLooks(t *testing.T) {
	v := keyreader.Value{Key: "lock:constant", Type: keyreader.String, Head: "1", Size: 1}
	for looks, want := range map[int]string{0: "one holder has", 1: "at 2 looks, 6s apart", 2: "at 2 looks, 6s apart",
		3: "at 3 looks, 3s apart"} {
		if got := sameHolder(&v, &inspect.Hold{}, 6*time.Second, looks); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %q, want %q", looks, got, want)
		}
	}
}
