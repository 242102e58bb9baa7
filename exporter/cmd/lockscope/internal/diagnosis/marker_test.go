package diagnosis

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

func TestQuarantineLeft(t *testing.T) {
	for _, c := range []struct{ uptime, maxTTL, want time.Duration }{
		{0, time.Minute, 60602 * time.Millisecond},
		{time.Second, time.Minute, 60602 * time.Millisecond},
		{21 * time.Second, time.Minute, 40602 * time.Millisecond},
		{61 * time.Second, time.Minute, 602 * time.Millisecond},
		{62 * time.Second, time.Minute, 0},
		{time.Hour, time.Minute, 0},
		{time.Second, time.Second, 15 * time.Second},
	} {
		if got := QuarantineLeft(c.uptime, c.maxTTL); got != c.want {
			t.Errorf("up for %v: %v left, want %v", c.uptime, got, c.want)
		}
	}
}

// TestReadsWhatVouchWrites: both packages use one form of marker.
func TestReadsWhatVouchWrites(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DisableIdentity: true})
	defer c.Close()
	id := c.InfoMap(t.Context(), "server").Val()["Server"]["run_id"]
	if word, err := ReadMarker(t.Context(), c, id); word.State != stored.MarkerNone || err != nil || id == "" {
		t.Errorf("run_id %q before: %v, %v", id, word, err)
	}
	if err := redlock.Vouch(t.Context(), []redis.UniversalClient{c}); err != nil {
		t.Fatal(err)
	}
	if word, err := ReadMarker(t.Context(), c, id); word.State != stored.MarkerVoting || err != nil {
		t.Errorf("after: %v, %v", word, err)
	}
	if word, err := ReadMarker(t.Context(), c, "another"); word.State != stored.MarkerLeftover || err != nil {
		t.Errorf("to another process: %v, %v", word, err)
	}
}
