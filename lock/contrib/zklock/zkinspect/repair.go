package zkinspect

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// guardOf is when a node was created, and how often it was written.
func guardOf(s *zk.Stat) string { return fmt.Sprintf("czxid %d, version %d", s.Czxid, s.Version) }

const ephemeral = "only a persistent node is deleted; its session ends the others"

// Repair implements inspect.Inspector. ZooKeeper compares the version as it deletes. Names of places are not used twice
// as long as their lock is there.
func (b *Inspector) Repair(ctx context.Context, name, guard string, dry bool) (outcome inspect.Outcome, err error) {
	if err := b.connect(ctx); err != nil {
		return "", err
	}
	if !placeName.MatchString(path.Base(name)) {
		return "", inspect.Unsafe("it is not named like a place in the queue of a lock")
	}
	// If ctx ends first, whether it was deleted is unknown.
	outcome, err = store.InTime(ctx, func() (inspect.Outcome, error) { return b.remove(name, guard, dry) })
	if errors.Is(err, zk.ErrNoAuth) {
		return "", fmt.Errorf("%w: set LOCKSCOPE_ZOOKEEPER_AUTH to the user:password of a user that may delete there",
			driver.ErrDenied)
	}
	if errors.Is(err, inspect.ErrUnsafe) {
		return "", err
	}
	return outcome, b.explain(err)
}

func (b *Inspector) remove(name, guard string, dry bool) (inspect.Outcome, error) {
	if _, err := b.conn.Sync(name); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return "", err
	}
	there, stat, err := b.conn.Exists(name)
	switch {
	case err != nil:
		return "", err
	case !there:
		return inspect.Gone, nil
	case guardOf(stat) != guard || stat.EphemeralOwner != 0:
		return inspect.Changed, nil
	case stat.NumChildren > 0:
		return "", inspect.Unsafe("it has children")
	case dry:
		return inspect.WouldDo, nil
	}
	switch err := b.conn.Delete(name, stat.Version); {
	case errors.Is(err, zk.ErrNoNode):
		return inspect.Gone, nil
	case errors.Is(err, zk.ErrBadVersion):
		return inspect.Changed, nil
	case errors.Is(err, zk.ErrNotEmpty):
		return "", inspect.Unsafe("it has children")
	case err != nil:
		return "", err
	}
	return inspect.Done, nil
}
