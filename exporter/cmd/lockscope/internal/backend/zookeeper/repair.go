package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// guardOf is when a node was created, and how often it was written.
func guardOf(s *zk.Stat) string { return fmt.Sprintf("czxid %d, version %d", s.Czxid, s.Version) }

// Repairable implements backend.Backend: persistent places of a queue.
func (b *Backend) Repairable(f *report.Finding, guard string) (string, error) {
	if f.Class != report.NoTTL || guard == "" {
		return "", backend.Unsafe("only a persistent node is deleted; its session ends the others")
	}
	return backend.Delete, nil
}

// Repair implements backend.Backend. ZooKeeper compares the version as it deletes. Names of places are not used twice
// as long as their lock is there.
func (b *Backend) Repair(ctx context.Context, name, guard string, dry bool) (outcome repair.Outcome, err error) {
	if err := b.connect(ctx); err != nil {
		return "", err
	}
	if !placeName.MatchString(path.Base(name)) {
		return "", backend.Unsafe("it is not named like a place in the queue of a lock")
	}
	done := make(chan repair.Outcome, 1)
	err = inTime(ctx, func() error {
		outcome, err := b.remove(name, guard, dry)
		done <- outcome
		return err
	})
	select {
	case outcome = <-done:
	default: // ctx has ended: whether it was deleted is unknown
	}
	if errors.Is(err, zk.ErrNoAuth) {
		return "", fmt.Errorf("%w: set LOCKSCOPE_ZOOKEEPER_AUTH to the user:password of a user that may delete there",
			driver.ErrDenied)
	}
	if errors.Is(err, repair.ErrNotRepairable) {
		return "", err
	}
	return outcome, b.explain(err)
}

func (b *Backend) remove(name, guard string, dry bool) (repair.Outcome, error) {
	if _, err := b.conn.Sync(name); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return "", err
	}
	there, stat, err := b.conn.Exists(name)
	switch {
	case err != nil:
		return "", err
	case !there:
		return repair.Gone, nil
	case guardOf(stat) != guard || stat.EphemeralOwner != 0:
		return repair.Changed, nil
	case stat.NumChildren > 0:
		return "", backend.Unsafe("it has children")
	case dry:
		return repair.WouldDo, nil
	}
	switch err := b.conn.Delete(name, stat.Version); {
	case errors.Is(err, zk.ErrNoNode):
		return repair.Gone, nil
	case errors.Is(err, zk.ErrBadVersion):
		return repair.Changed, nil
	case errors.Is(err, zk.ErrNotEmpty):
		return "", backend.Unsafe("it has children")
	case err != nil:
		return "", err
	}
	return repair.Done, nil
}
