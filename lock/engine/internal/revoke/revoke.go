// Package revoke ends a lease of any process, through marks that keep it from being renewed.
package revoke

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Do asks all nodes who holds the resource, and marks that grant on all of them.
func Do(ctx context.Context, e *nodes.Set, resource string, req lock.RevokeRequest) (lock.Revocation, error) {
	asked, err := ask(ctx, e, driver.RevokeRequest{Key: e.Config.Prefix + resource})
	if err != nil {
		return lock.Revocation{}, fmt.Errorf("lock: revoke of %q: %w", resource, err)
	}
	holder, err := asked.holder(resource)
	if err != nil {
		return lock.Revocation{}, err
	}
	seen := asked.sighting(resource, holder)
	if req.Confirm != nil {
		if err := req.Confirm(seen); err != nil {
			return lock.Revocation{}, fmt.Errorf("lock: revoke of %q: %w", resource, err)
		}
	}
	record := string(records.AppendMark(nil, req.By, req.Reason, time.Now()))
	marked, err := ask(ctx, e, driver.RevokeRequest{
		Key: e.Config.Prefix + resource, Grant: holder.grant(), Record: record, Keep: keep(e),
	})
	if err != nil {
		return lock.Revocation{}, fmt.Errorf("lock: revoke of %q: nodes may be marked: %w", resource, err)
	}
	return marked.revocation(seen, holder.grant(), record)
}

// ask sends one request to all nodes and waits for every answer, for at most one node timeout.
func ask(ctx context.Context, e *nodes.Set, req driver.RevokeRequest) (answers, error) {
	said, began, err := question.Ask(ctx, e, question.Question[driver.RevokeReply]{
		Timeout: e.Config.LongestNodeTimeout(),
		Send: func(n driver.Node, call driver.Call, to driver.Answer[driver.RevokeReply]) {
			n.Revoke(call, &req, to)
		},
	})
	return answers{nodes: said, quorum: e.Quorum, began: began}, err
}

// keep is how long nodes keep a mark. Its lease lives at most one TTL after the last renewal that began before the
// marks were made, and the marks of one act are made within one node timeout. A call of the lease that arrives later
// than a tombstone is expected to be needed is barred as long.
func keep(e *nodes.Set) time.Duration { return 2 * e.TombstoneTTL() }
