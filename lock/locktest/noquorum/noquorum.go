// Package noquorum provides lockers that get no lock, for tests of code that must not run without one.
//
// It is for lockscope's own packages.
package noquorum

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
)

// Each calls fn for each fault of a majority of nodes, in the fake time of testing/synctest: they are down, their ACL
// denies access, or they are paused.
func Each(t *testing.T, fn func(t *testing.T, l *memlock.Locker)) {
	t.Helper()
	for name, fail := range map[string]func(*memlock.Node){
		"down":   func(n *memlock.Node) { n.Deny(driver.ErrUnreachable) },
		"denied": func(n *memlock.Node) { n.Deny(fmt.Errorf("%w: NOPERM", driver.ErrDenied)) },
		"paused": (*memlock.Node).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				l, err := memlock.New(nodes)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				defer nodes.Recover()
				for _, n := range nodes[1:] {
					fail(n)
				}
				fn(t, l)
			})
		})
	}
}
