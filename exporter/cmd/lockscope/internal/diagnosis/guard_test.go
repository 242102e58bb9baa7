package diagnosis

import (
	"testing"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// TestWhatIsStatedIsNoFailure any more, but a warning that says what is lost.
func TestWhatIsStatedIsNoFailure(t *testing.T) {
	t.Parallel()
	f := sound(1)
	f.Server.RunID, f.Server.Incarnation = "", ""
	p := testPolicy()
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Fail, "--marker-identity")
	p.Guard.MarkerIdentity = true
	for _, r := range ofCheck(Examine([]Facts{f}, p), "guard") {
		if r.Status != inspect.Warn {
			t.Errorf("%+v", r)
		}
	}
	p.Guard.MarkerIdentity, p.Guard.WithoutGuard = false, true
	for _, r := range ofCheck(Examine([]Facts{f}, p), "guard") {
		if r.Status != inspect.Warn {
			t.Errorf("%+v", r)
		}
	}
	f.Server.Role = "other"
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Warn, `the unknown role "other"`)
	f.Server.Role, p.Guard.WithoutGuard, p.Single = "master", false, "cluster"
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Fail, string(LevelWithout))
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Warn, "as a Redis Cluster has no markers")
}
