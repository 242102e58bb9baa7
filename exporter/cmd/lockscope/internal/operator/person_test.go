package operator

import (
	"os"
	"os/user"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// TestOperator: a cron job and a container have no USER, and an image may have no name for its uid.
func TestOperator(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  map[string]string
		flag string
		want string
	}{
		{nil, "ada", "ada"},
		{map[string]string{"USER": "ann", "LOGNAME": "bob"}, "", "ann@" + host},
		{map[string]string{"LOGNAME": "bob"}, "", "bob@" + host},
		{nil, "", me.Username + "@" + host},
	} {
		a := &ui.App{Env: c.env}
		if got := NameOf(a, c.flag); got != c.want {
			t.Errorf("%v %q: %q, want %q", c.env, c.flag, got, c.want)
		}
		if got := (&person{name: c.flag}).Name(a); got != c.want {
			t.Errorf("%v %q: %q, want %q", c.env, c.flag, got, c.want)
		}
	}
	if got := userOf(987_654); got != "uid 987654" {
		t.Errorf("a uid without a name: %q", got)
	}
	if got := userOf(-1); got != "" {
		t.Errorf("no uid: %q", got)
	}
}
