package etcdinspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

const (
	keyPage     = 1000            // keys read at a time
	callTimeout = 5 * time.Second // of one call: a member that hangs costs as much, and another one is asked
	callTries   = 3
)

// Leaks implements inspect.Inspector: keys without a lease, leases that last too long and locks held too long, below
// the prefix of etcdlock and the given ones. All keys of a prefix are of one revision.
func (b *Inspector) Leaks(ctx context.Context, r *inspect.Rules) (l inspect.Look, err error) {
	if err := b.connect(ctx); err != nil {
		return l, err
	}
	s := &leakScan{inspector: b, rules: r, leaks: &l, seen: make(map[string]bool)}
	for _, prefix := range s.prefixes() {
		switch err := s.readPrefix(ctx, prefix); {
		case errors.Is(err, rpctypes.ErrUserEmpty):
			l.Gap(inspect.ReasonValuesUnread, "the cluster requires a user: set --etcd-username and --etcd-password-file")
			l.Hide(func(*inspect.Leak) bool { return true })
			return l, nil
		case errors.Is(err, rpctypes.ErrPermissionDenied):
			l.Hide(func(f *inspect.Leak) bool { return strings.HasPrefix(f.Key, prefix) })
			l.Gap(inspect.ReasonValuesUnread, "user %s may not read the keys below %s: grant its role read on that prefix",
				b.config.Username, inspect.KeyText(prefix))
		case err != nil:
			return l, b.explain(fmt.Errorf("read keys below %s: %w", inspect.KeyText(prefix), unanswered(err)))
		}
	}
	s.judge()
	return l, b.explain(s.judgeLeases(ctx))
}

// leakScan is one look at a cluster.
type leakScan struct {
	inspector *Inspector
	rules     *inspect.Rules
	leaks     *inspect.Look
	keys      []*key
	seen      map[string]bool
}

func (s *leakScan) prefixes() []string {
	all := append([]string{s.inspector.prefix}, s.rules.Prefixes...)
	slices.Sort(all)
	return slices.Compact(all)
}

// readPrefix reads the keys below a prefix. The prefix of etcdlock may have none if others are given.
func (s *leakScan) readPrefix(ctx context.Context, prefix string) error {
	from, revision, n := prefix, int64(0), 0
	for {
		var page *clientv3.GetResponse
		err := retry(ctx, func(ctx context.Context) (err error) {
			page, err = s.inspector.client.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)),
				clientv3.WithLimit(keyPage), clientv3.WithRev(revision))
			return err
		})
		if err != nil {
			return err
		}
		for _, kv := range page.Kvs {
			if n++; !s.seen[string(kv.Key)] {
				s.seen[string(kv.Key)] = true
				s.keys = append(s.keys, newKey(kv))
			}
		}
		if !page.More {
			break
		}
		revision, from = page.Header.Revision, string(page.Kvs[len(page.Kvs)-1].Key)+"\x00"
	}
	s.leaks.Count(n, "keys below "+inspect.KeyText(prefix))
	asked := len(s.rules.Prefixes) == 0 || slices.Contains(s.rules.Prefixes, prefix)
	if n == 0 && asked && !s.rules.AllowEmpty {
		s.leaks.Gap(inspect.ReasonNoMatch, "no key begins with %s: check --etcd-prefix and --prefix, or use --allow-empty",
			inspect.KeyText(prefix))
	}
	return nil
}

// retry asks again if a member does not answer.
func retry(ctx context.Context, ask func(context.Context) error) (err error) {
	for range callTries {
		try, cancel := context.WithTimeout(ctx, callTimeout)
		err = ask(try)
		late := try.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil {
			break
		}
	}
	return err
}

// unanswered adds the class of an error by which members say that no majority answered. Some have it as text only.
func unanswered(err error) error {
	text := err.Error()
	if strings.Contains(text, "deadline exceeded") || strings.Contains(text, "timed out") {
		return fmt.Errorf("%w: %w", errNoMajority, err)
	}
	return err
}

// judge looks for what the keys themselves show.
func (s *leakScan) judge() {
	unknown := 0
	now := time.Now()
	for _, q := range queuesOf(s.keys) {
		for i, k := range q.keys {
			switch held, limit, tooLong := s.rules.TooLong(&k.holder, now); {
			case k.lease == 0:
				s.add(inspect.NoTTL, k, "it has no lease, so it never expires: it stays until somebody deletes it%s",
					q.around(i))
			case i >= q.held || !k.claim:
			case k.holder == (lock.Holder{}):
				unknown++
			case tooLong:
				s.add(inspect.HeldTooLong, k, "one holder has had it for %s, longer than the limit of %s, and keeps its "+
					"lease alive%s", inspect.Whole(held), inspect.Whole(limit), q.around(i))
			}
		}
	}
	if unknown > 0 && s.rules.Wants(inspect.HeldTooLong) {
		s.leaks.Skip(inspect.ReasonUnwatched, "%s of concurrency.Mutex: etcd does not record since when a lease is kept "+
			"alive", inspect.Count(unknown, "lock"))
	}
}

func (s *leakScan) add(class inspect.Class, k *key, format string, args ...any) {
	l := inspect.Leak{Class: class, Key: k.key, Type: "key", TTL: k.ttl,
		Hold:     inspect.Hold{Holder: k.holder, Format: inspect.FormatLockscope},
		Identity: fmt.Sprint(k.created, "/", k.lease), Guard: guardOf(k)}
	if k.holder == (lock.Holder{}) {
		l.Hold.Instance, l.Hold.Format = k.name(), inspect.FormatUnknown
	}
	l.Action, l.Unsafe = s.inspector.repairOf(&l)
	s.leaks.Add(s.rules, l, format, args...)
}
