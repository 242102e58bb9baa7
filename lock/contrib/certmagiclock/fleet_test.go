package certmagiclock_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/certmagiclock"
	"github.com/lockscope/lockscope/lock/memlock"
)

const (
	site     = "example.com"
	siteLock = "issue_cert_" + site
)

// fleet is a CA, and what its processes share.
type fleet struct {
	folder string // of the certificates
	nodes  memlock.Nodes

	busy, issued atomic.Int32
	overlaps     atomic.Int32 // of two that obtain a certificate at the same time
	root         *x509.Certificate
	key          *ecdsa.PrivateKey
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{folder: t.TempDir(), nodes: memlock.NewNodes(3)}
	var err error
	f.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	f.root = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
	}
	return f
}

// process is the configuration of certmagic in a process of its own. wrap is what it does to the storage, and issue is
// called while it asks the CA.
func (f *fleet) process(t *testing.T, wrap func(certmagic.Storage, lock.Locker) certmagic.Storage,
	issue func(context.Context) error,
) (*certmagic.Config, *memlock.Locker) {
	locker, err := memlock.New(f.nodes)
	must(t, err)
	t.Cleanup(func() { must(t, locker.Close()) })
	var config *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return config, nil },
		Logger:           zap.NewNop(),
	})
	t.Cleanup(cache.Stop)
	config = certmagic.New(cache, certmagic.Config{
		Storage: wrap(&certmagic.FileStorage{Path: f.folder}, locker),
		Issuers: []certmagic.Issuer{issuer{f, issue}},
		Logger:  zap.NewNop(),
	})
	return config, locker
}

func ours(s certmagic.Storage, l lock.Locker) certmagic.Storage {
	return certmagiclock.NewStorage(s, l)
}

// issuer is a process at the CA.
type issuer struct {
	*fleet
	issue func(context.Context) error
}

func (issuer) IssuerKey() string { return "test" }

func (i issuer) Issue(ctx context.Context, request *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	i.busy.Add(1)
	defer i.busy.Add(-1)
	time.Sleep(time.Millisecond) // one that has just lost its lock returns meanwhile
	if i.busy.Load() > 1 {
		i.overlaps.Add(1)
	}
	if err := i.fleet.wait(ctx, i.issue); err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(int64(i.issued.Add(1)) + 1), DNSNames: request.DNSNames,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, i.root, request.PublicKey, i.key)
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}

func (*fleet) wait(ctx context.Context, issue func(context.Context) error) error {
	if issue == nil {
		return nil
	}
	return issue(ctx)
}

// hanging is the locks as one would write them first: a lease hangs on the context of Lock, and Unlock finds it by
// name.
type hanging struct {
	certmagic.Storage
	locker lock.Locker
	leases map[string]lock.Lease
}

func naive(s certmagic.Storage, l lock.Locker) certmagic.Storage {
	return &hanging{s, l, make(map[string]lock.Lease)}
}

func (h *hanging) Lock(ctx context.Context, name string) (err error) {
	h.leases[name], err = h.locker.Acquire(ctx, name)
	return err
}

func (h *hanging) Unlock(ctx context.Context, name string) error {
	return h.leases[name].Release(ctx)
}
