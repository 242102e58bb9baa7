//go:build !race

package simulation

import (
	"context"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/lockscope/lockscope/lock/driver"
)

// A node must keep the lock for as long as the release asks. One that keeps it for less, or that deletes the key as for any
// release, lets others in before the time.
func TestSimulationNoticesFlawsOfMinHold(t *testing.T) {
	for name, flaw := range map[string]func(n driver.BlockingNode) driver.BlockingNode{
		"too short": func(n driver.BlockingNode) driver.BlockingNode { return keepsHalf{n} },
		"released":  func(n driver.BlockingNode) driver.BlockingNode { return keepsNotAtAll{n} },
	} {
		t.Run(name, func(t *testing.T) {
			mustMatchIn(t, regexp.MustCompile(": M1 "), 1, func(seed uint64) (*plan, plant) {
				return newMinHolds(seed), plant{wrap: func(h *history, _ int, n driver.BlockingNode) driver.BlockingNode {
					return keeper{flaw(n), h, new(atomic.Int64)}
				}}
			})
		})
	}
}

type keepsHalf struct{ driver.BlockingNode }

func (n keepsHalf) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	if req.Final {
		req.TTL /= 2
	}
	return n.BlockingNode.Extend(ctx, req)
}

type keepsNotAtAll struct{ driver.BlockingNode }

func (n keepsNotAtAll) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	if !req.Final {
		return n.BlockingNode.Extend(ctx, req)
	}
	_, err := n.BlockingNode.Release(ctx, driver.ReleaseRequest{Key: req.Key, Token: req.Token})
	return driver.ExtendDone, err
}
