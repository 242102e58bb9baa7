package etcdinspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

const guardForm = "mod_revision "

// guardOf is the revision of the last write.
func guardOf(k *key) string { return guardForm + strconv.FormatInt(k.changed, 10) }

// repairOf is what a repair does: it deletes keys without a lease.
func (b *Inspector) repairOf(l *inspect.Leak) (do inspect.Action, unsafe string) {
	switch {
	case l.Class != inspect.NoTTL:
		return "", "only a key without a lease is deleted; its lease ends the others"
	case strings.HasPrefix(l.Key, "lockscope:") || l.Key == b.fenceKey:
		return "", "it is no lock, but a key that lockscope's locks need"
	}
	return inspect.Delete, ""
}

// Repair implements inspect.Inspector. One transaction compares the revision and deletes. A claim whose lease is alive is
// left alone: its holder may be at work, and believe that it has the lock.
func (b *Inspector) Repair(ctx context.Context, name, guard string, dry bool) (inspect.Outcome, error) {
	if err := b.connect(ctx); err != nil {
		return "", err
	}
	revision, err := strconv.ParseInt(strings.TrimPrefix(guard, guardForm), 10, 64)
	if err != nil {
		return "", inspect.Unsafe("the plan has no revision")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	now, err := b.client.Get(ctx, name)
	switch {
	case err != nil:
		return "", b.explainRepair(err)
	case len(now.Kvs) == 0:
		return inspect.Gone, nil
	case now.Kvs[0].ModRevision != revision || now.Kvs[0].Lease != 0:
		return inspect.Changed, nil
	}
	if err := b.alive(ctx, name); err != nil {
		return "", err
	}
	if dry {
		return inspect.WouldDo, nil
	}
	done, err := b.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(name), "=", revision),
		clientv3.Compare(clientv3.LeaseValue(name), "=", 0)).Then(clientv3.OpDelete(name)).Commit()
	switch {
	case err != nil:
		return "", b.explainRepair(err)
	case !done.Succeeded:
		return inspect.Changed, nil
	}
	return inspect.Done, nil
}

// alive refuses a claim that is named after a lease which still exists.
func (b *Inspector) alive(ctx context.Context, name string) error {
	id, err := strconv.ParseInt(strings.TrimPrefix(name[strings.LastIndexByte(name, '/')+1:], "r"), 16, 64)
	if err != nil {
		return nil // it is no claim
	}
	left, err := b.client.TimeToLive(ctx, clientv3.LeaseID(id))
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return nil
	case err != nil:
		return b.explainRepair(err)
	case left.TTL > 0:
		return inspect.Unsafe("lease %x, which it is named after, is alive, so its holder may be at work: end that "+
			"process first", id)
	}
	return nil
}

func (b *Inspector) explainRepair(err error) error {
	if errors.Is(err, rpctypes.ErrPermissionDenied) {
		return fmt.Errorf("etcd %s: %w: grant the role of user %s read and write on the prefix of the locks", b.Address(),
			err, b.config.Username)
	}
	return b.explain(unanswered(err))
}
