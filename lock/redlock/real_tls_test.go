package redlock_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// certificate makes a self-signed certificate for 127.0.0.1. It returns its files and a pool that trusts it.
func certificate(t *testing.T) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockscope test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	must(t, os.WriteFile(certFile, certPEM, 0o600))
	must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, roots
}

// startTLS starts a server that also accepts TLS, and returns the address for it.
func startTLS(t *testing.T) (f *realNodes, addr string, roots *x509.CertPool) {
	t.Helper()
	cert, key, roots := certificate(t)
	port := strconv.Itoa(locktest.Port(t))
	f = startNodes(t, 1, redisproc.WithArgs("--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no"))
	return f, net.JoinHostPort("127.0.0.1", port), roots
}

// spy is a go-redis hook that records commands.
type spy struct {
	mu       sync.Mutex
	commands map[string]int
	dials    int
}

func (s *spy) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		s.mu.Lock()
		s.dials++
		s.mu.Unlock()
		return next(ctx, network, addr)
	}
}

func (s *spy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		s.mu.Lock()
		if s.commands == nil {
			s.commands = map[string]int{}
		}
		s.commands[cmd.Name()]++
		s.mu.Unlock()
		return next(ctx, cmd)
	}
}

func (s *spy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *spy) seen(command string) (commands, dials int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands[command], s.dials
}

// TestRealTLS uses the given client's TLS, credentials, database and hooks.
func TestRealTLS(t *testing.T) {
	f, addr, roots := startTLS(t)
	runACL(t, f.admin[0], leastPrivilege+" +select")
	given := plainClient(t, &redis.Options{
		Addr: addr, TLSConfig: &tls.Config{RootCAs: roots}, Username: "lockscope", Password: aclPassword, DB: 3,
	})
	var hook, dialHook spy
	given.AddHook(&hook)
	slow := lock.WithNodeTimeout(patience) // a handshake is slow under the race detector
	l := newLocker(t, []redis.UniversalClient{given}, slow, redlock.WithHook(&dialHook))
	other := newLocker(t, []redis.UniversalClient{plainClient(t, &redis.Options{
		Addr: addr, TLSConfig: &tls.Config{RootCAs: roots}, Username: "lockscope", Password: aclPassword, DB: 3,
	})}, slow)
	lease := acquire(t, l, "job", lock.TTL(longTTL))
	waiting := acquireAsync(t.Context(), other, "job", lock.TTL(longTTL))
	inDB3 := plainClient(t, &redis.Options{Addr: f.servers[0].Addr(), DB: 3})
	eventually(t, settleTime, "the other queues", func() bool {
		return inDB3.ZCard(t.Context(),
			"lockscope:queue:{lock:job}").Val() == 1
	})
	if inDB3.Exists(t.Context(), "lock:job").Val() != 1 {
		t.Error("the lock is not in the given client's database")
	}
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	g := await(t, settleTime, "the waiter", waiting)
	must(t, g.err)
	must(t, g.lease.Release(t.Context()))
	if n, _ := hook.seen("evalsha"); n < 3 {
		t.Errorf("the given client's hook saw %d evalsha, want acquire, extend and release", n)
	}
	if n, dials := dialHook.seen("evalsha"); dials == 0 || n < 3 {
		t.Errorf("WithHook's hook saw %d dials and %d evalsha", dials, n)
	}
	if n, err := inDB3.Keys(t.Context(), "lock:*").Result(); err != nil || len(n) > 0 {
		t.Errorf("left: %v %v", n, err)
	}
}

// TestRealTLSUntrusted: an untrusted certificate is an error at once. It must not lead to a plain connection.
func TestRealTLSUntrusted(t *testing.T) {
	_, addr, _ := startTLS(t)
	url := fmt.Sprintf("rediss://user:%s@%s/0", aclPassword, addr)
	l, err := redlock.Open([]string{url}, lock.WithNodeTimeout(patience)) // a handshake is slow under the race detector
	must(t, err)
	defer l.Close()
	began := time.Now()
	_, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantWithin(t, "acquire", time.Since(began), patience)
	wantErr(t, err, lock.ErrNoQuorum)
	wantText(t, err, "certificate", addr)
	if err != nil && containsText(err, aclPassword) {
		t.Errorf("the error shows the password: %v", err)
	}
}

// TestRealTLSPausedNode: a TLS handshake that gets no answer ends with the node timeout, too.
func TestRealTLSPausedNode(t *testing.T) {
	t.Parallel()
	f, addr, roots := startTLS(t)
	const dialTimeout = hungTimeout // of the given client, whose dialer is used
	given := plainClient(t, &redis.Options{Addr: addr, TLSConfig: &tls.Config{RootCAs: roots},
		DialTimeout: dialTimeout})
	l := newLocker(t, []redis.UniversalClient{given})
	f.pause(0)
	began := time.Now()
	_, err := l.Acquire(t.Context(), "job", lock.NoWait())
	wantWithin(t, "acquire", time.Since(began), soon)
	wantErr(t, err, driver.ErrTimeout)
	began = time.Now()
	must(t, l.Close())
	wantWithin(t, "close", time.Since(began), 2*dialTimeout)
	f.resume(0)
}
