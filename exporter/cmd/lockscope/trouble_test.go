package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestTroubleSaysWhatItWaitsFor once, after five seconds: the holder, or why there is no quorum. A call that is over
// sooner says nothing, and the line of a signal has the last reason.
func TestTroubleSaysWhatItWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		dead bool
		wait time.Duration
		want string
	}{
		"held":        {false, 20 * time.Second, "web-1/42"},
		"dead":        {true, 20 * time.Second, "no quorum"},
		"over sooner": {true, 4 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				l, err := memlock.New(nodes, lock.WithInstance("web-1/42"))
				cmdtest.Must(t, err)
				defer l.Close()
				if nodes.NoQuorum(); !c.dead {
					nodes.Recover()
					_, err = l.Acquire(t.Context(), "nightly")
					cmdtest.Must(t, err)
				}
				var trouble servers.Trouble
				var said []string
				began := time.Now()
				ctx, stop := trouble.Watch(t.Context(), &ui.App{ErrOut: &bytes.Buffer{}}, func(last error) {
					said = append(said, last.Error())
					if waited := time.Since(began); waited != 5*time.Second {
						t.Errorf("said after %v", waited)
					}
				})
				_, err = l.Acquire(ctx, "nightly", lock.MaxWait(c.wait))
				stop()
				time.Sleep(time.Minute)
				if err == nil || (len(said) == 1) != (c.want != "") || !strings.Contains(strings.Join(said, ""), c.want) {
					t.Errorf("failed with %v, said %q, want %q", err, said, c.want)
				}
				line := trouble.Stopped(errors.New("stopped by SIGTERM"), "nightly").Error()
				if !strings.Contains(line, `stopped by SIGTERM while waiting for "nightly"; last try: `) ||
					!strings.Contains(line, c.want) {
					t.Error(line)
				}
			})
		})
	}
}
