package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// TestEtcdOverTLS lists and examines a cluster that speaks nothing but TLS, with its authority and without.
func TestEtcdOverTLS(t *testing.T) {
	cert, key := certificate(t)
	pem, err := os.ReadFile(cert)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := etcdproc.StartTLS(t.Context(), 1, etcdproc.Certificate{CertFile: cert, KeyFile: key, Client: &tls.Config{RootCAs: roots}})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	client, err := c.Client()
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	lease, err := etcdLocker(t, client, "billing/7").Acquire(t.Context(), "order:1")
	must(t, err)
	t.Cleanup(func() { must(t, lease.Release(context.Background())) })

	url := c.Endpoints()[0]
	if !strings.HasPrefix(url, "https://") {
		t.Fatal(url)
	}
	command(t, "doctor", "--etcd", url, "--tls-ca", cert).want(t, exitFindings, "a majority answers", "1 member", "0 fail")
	command(t, "doctor", "--etcd", url).want(t, exitError, "x509:", "see --tls-ca")
	command(t, "list", "--etcd", url).want(t, exitError, "x509:", "see --tls-ca")
	command(t, "list", "--etcd", url, "--tls-ca", cert).want(t, exitClean, "order:1", "billing/7")
	command(t, "list", "--etcd", strings.Replace(url, "https", "http", 1), "--tls-ca", cert).want(t, exitError, "https://")

	stranger, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { _ = stranger.Close() })
	if _, err := etcdLocker(t, stranger, "billing/8").Acquire(t.Context(), "order:2", lock.NoWait()); err == nil || !strings.Contains(err.Error(), "clientv3.Config.TLS") {
		t.Errorf("without the authority: %v", err)
	}
}
