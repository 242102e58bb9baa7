package etcdinspect

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// The layouts that are known.
const (
	lockscope  = "lockscope"
	mutex      = "concurrency.Mutex"
	election   = "concurrency.Election"
	pythonEtcd = "python-etcd3"
	patroni    = "Patroni"
	kubernetes = "Kubernetes Lease"
	leased     = "key with a lease"
)

var (
	patroniLeader = regexp.MustCompile(`^/service/[^/]+/leader$`)
	lockWord      = regexp.MustCompile(`(?i)(lock|mutex|leader|elect)`)
	leaseName     = regexp.MustCompile(`^[0-9a-f]{12,16}$`) // that of a lease, where the key has none
)

// Libraries implements inspect.Inspector. It reads names of keys, and values of those that are named after a lease.
func (b *Inspector) Libraries(ctx context.Context, sample int) (l inspect.Libraries, err error) {
	if err := b.connect(ctx); err != nil {
		return l, err
	}
	l.Read.What = "keys"
	from, options := "\x00", []clientv3.OpOption{clientv3.WithFromKey()}
	err = b.readNames(ctx, from, options, sample, &l)
	if errors.Is(err, rpctypes.ErrPermissionDenied) {
		l.Notes = append(l.Notes, fmt.Sprintf("user %s may not read all keys, so only those below %s were: grant its role "+
			"read on the others", b.config.Username, inspect.KeyText(b.prefix)))
		end := clientv3.WithRange(clientv3.GetPrefixRangeEnd(b.prefix))
		err = b.readNames(ctx, b.prefix, []clientv3.OpOption{end}, sample, &l)
		l.Whole = false
	}
	if err != nil {
		err = unanswered(err)
	}
	return l, b.explain(err)
}

func (b *Inspector) readNames(ctx context.Context, from string, options []clientv3.OpOption, sample int,
	l *inspect.Libraries) error {
	for revision := int64(0); ; {
		var page *clientv3.GetResponse
		all := append(options[:len(options):len(options)], clientv3.WithKeysOnly(), clientv3.WithRev(revision),
			clientv3.WithLimit(int64(min(keyPage, sample-l.Read.N))))
		err := retry(ctx, func(ctx context.Context) (err error) {
			page, err = b.client.Get(ctx, from, all...)
			return err
		})
		if err != nil {
			return err
		}
		if err := b.recognise(ctx, page.Kvs, l); err != nil {
			return err
		}
		l.Read.N += len(page.Kvs)
		if l.Whole = !page.More; l.Whole || l.Read.N >= sample {
			return nil
		}
		revision, from = page.Header.Revision, string(page.Kvs[len(page.Kvs)-1].Key)+"\x00"
	}
}

// recognise sorts the keys of a page. The value tells a Mutex, which has none, from an Election and from etcdlock.
func (b *Inspector) recognise(ctx context.Context, kvs []*mvccpb.KeyValue, found *inspect.Libraries) error {
	var claims []clientv3.Op
	for _, kv := range kvs {
		k := newKey(kv)
		name := k.key[strings.LastIndexByte(k.key, '/')+1:]
		if k.claim && (k.lease != 0 || leaseName.MatchString(strings.TrimPrefix(name, "r"))) {
			claims = append(claims, clientv3.OpGet(k.key))
		} else {
			b.named(k, found)
		}
	}
	for len(claims) > 0 {
		some := claims[:min(len(claims), maxOps)]
		claims = claims[len(some):]
		var answer *clientv3.TxnResponse
		err := retry(ctx, func(ctx context.Context) (err error) {
			answer, err = b.client.Txn(ctx).Then(some...).Commit()
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range answer.Responses {
			for _, kv := range r.GetResponseRange().GetKvs() {
				claim(newKey(kv), len(kv.Value), found)
			}
		}
	}
	return nil
}

// maxOps is the largest transaction that a server takes by default.
const maxOps = 128

// claim adds a key that is named after a lease.
func claim(k *key, size int, found *inspect.Libraries) {
	f := inspect.Library{Name: mutex, Confidence: inspect.High, Keys: 1, Example: k.key, Pattern: dirOf(k.lock),
		Evidence: "the key is named after its lease and has no value"}
	switch {
	case k.holder != (lock.Holder{}):
		f.Name, f.Evidence = lockscope, "the key is named after its lease and has the record of a holder"
	case size > 0:
		f.Name, f.Evidence = election, "the key is named after its lease and has the value of a candidate"
	}
	if k.lease == 0 {
		f.NoTTL = 1
	}
	found.Add(f)
}

// named adds a key that its name suggests to be a lock.
func (b *Inspector) named(k *key, found *inspect.Libraries) {
	f := inspect.Library{Keys: 1, Example: k.key, Pattern: dirOf(k.key), Confidence: inspect.High}
	switch {
	case strings.HasPrefix(k.key, "/registry/leases/"):
		f.Name, f.Pattern, f.Evidence = kubernetes, "/registry/leases/",
			"Kubernetes keeps its Leases here; they have no lease of etcd by design"
	case patroniLeader.MatchString(k.key):
		f.Name, f.Pattern, f.Evidence = patroni, "/service/", "a cluster's leader, as Patroni names it"
	case k.lease != 0 && strings.HasPrefix(k.key, "/locks/"):
		f.Name, f.Confidence, f.Evidence = pythonEtcd, inspect.Medium, "a key with a lease below /locks/"
	case k.lease != 0 && lockWord.MatchString(k.key):
		f.Name, f.Confidence, f.Evidence = leased, inspect.Medium, "it has a lease, and its name suggests a lock"
	case k.lease == 0 && strings.HasPrefix(k.key, b.prefix) && k.key != b.fenceKey:
		f.Name, f.Confidence, f.Evidence = leased, inspect.Low, "it has no lease, but is below the prefix of the locks"
	default:
		return
	}
	if k.lease == 0 {
		f.NoTTL = 1
	}
	found.Add(f)
}

// dirOf is what --prefix needs to have these locks read.
func dirOf(lock string) string { return lock[:strings.LastIndexAny(lock, "/:")+1] }
