package child

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// TestLimits are those of the help: a third and a twentieth of the TTL, and less if the command may not take so long.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		ttl, killAfter, margin, warning time.Duration
	}{
		{12 * time.Second, 10 * time.Second, 600 * time.Millisecond, 4600 * time.Millisecond},
		{12 * time.Second, time.Second, 600 * time.Millisecond, 1600 * time.Millisecond},
		{time.Minute, 10 * time.Second, 3 * time.Second, 13 * time.Second},
	} {
		l := Limits{TTL: c.ttl, KillAfter: c.killAfter}
		if l.Margin() != c.margin || l.Warning() != c.warning {
			t.Errorf("%v, %v: a margin of %v and a warning at %v", c.ttl, c.killAfter, l.Margin(), l.Warning())
		}
	}
}

// TestEnvironment replaces the variables of a lock around this one.
func TestEnvironment(t *testing.T) {
	outer := ui.Env{
		"PATH": "/bin", ui.VarFence: "1", ui.VarSlot: "2", ui.VarTerm: "3", ui.VarResource: "x",
	}
	got := Grant{Resource: "job", Fence: 7, Slot: -1}.Environment(outer)
	if want := []string{"PATH=/bin", "LOCKSCOPE_RESOURCE=job", "LOCKSCOPE_FENCE=7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = Grant{Resource: "job", Fence: 7, Slot: 0, Elected: true}.Environment(nil)
	want := []string{"LOCKSCOPE_RESOURCE=job", "LOCKSCOPE_FENCE=7", "LOCKSCOPE_SLOT=0", "LOCKSCOPE_TERM=7"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
