package inspect

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

type somewhere struct{ Inspector }

func (somewhere) System() string  { return "etcd" }
func (somewhere) Address() string { return "e1:2379" }

// TestExplain: an error has one remedy: its own, or that of its class, or to look at the address. What a server says is
// no remedy, whatever its words.
func TestExplain(t *testing.T) {
	remedies := Remedies{driver.Denied: "use another role"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{driver.WithRemedy(driver.ErrUnreachable, "check the members"), "node cannot be reached: check the members"},
		{fmt.Errorf(`%w: run "lockscope doctor"`, driver.ErrUnreachable),
			`node cannot be reached: run "lockscope doctor": ` + ReachAdvice},
		{fmt.Errorf("read: %w", driver.ErrDenied), "read: node denies access: use another role"},
		{driver.ErrTimeout, "no answer within the node timeout: " + ReachAdvice},
		{driver.ErrMisconfigured, "node is not set up for locks"},
	} {
		err := Explain(somewhere{}, c.err, remedies)
		if want := "etcd e1:2379: " + c.want; err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if driver.ClassOf(err) != driver.ClassOf(c.err) {
			t.Errorf("%v is of class %q", err, driver.ClassOf(err))
		}
	}
	if err := Explain(somewhere{}, nil, remedies); err != nil {
		t.Error(err)
	}
}
