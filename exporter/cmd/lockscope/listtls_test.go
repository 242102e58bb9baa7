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

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// TestEtcdOverTLS lists and examines a cluster that accepts only TLS, with and without its authority.
func TestEtcdOverTLS(t *testing.T) {
	t.Parallel()
	cert, key := cmdtest.Certificate(t)
	pem, err := os.ReadFile(cert)
	cmdtest.Must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := etcdproc.StartTLS(t.Context(), 1, etcdproc.Certificate{CertFile: cert, KeyFile: key,
		Client: &tls.Config{RootCAs: roots}})
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, c.Stop()) })
	client, err := c.Client()
	cmdtest.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	lease, err := cmdtest.EtcdLocker(t, client, "billing/7").Acquire(t.Context(), "order:1")
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, lease.Release(context.Background())) })

	url := c.Endpoints()[0]
	if !strings.HasPrefix(url, "https://") {
		t.Fatal(url)
	}
	command(t, "doctor", "--etcd", url, "--tls-ca", cert).Want(t, ui.ExitFindings, "a majority answers", "1 member",
		"0 fail")
	command(t, "doctor", "--etcd", url).Want(t, ui.ExitError, "x509:", "check --tls-ca")
	command(t, "list", "--etcd", url).Want(t, ui.ExitError, "x509:", "check --tls-ca")
	command(t, "list", "--etcd", url, "--tls-ca", cert).Want(t, ui.ExitClean, "order:1", "billing/7")
	command(t, "list", "--etcd", strings.Replace(url, "https", "http", 1), "--tls-ca", cert).Want(t, ui.ExitError,
		"https://")

	stranger, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), Logger: zap.NewNop()})
	cmdtest.Must(t, err)
	t.Cleanup(func() { _ = stranger.Close() })
	if _, err := cmdtest.EtcdLocker(t, stranger, "billing/8").Acquire(t.Context(), "order:2",
		lock.NoWait()); err == nil || !strings.Contains(err.Error(), "clientv3.Config.TLS") {
		t.Errorf("without the authority: %v", err)
	}
}

// TestPostgresOverTLS lists and examines a server that accepts only TLS: with its authority, with another, and without.
// The TLS settings of the connection string alone are not trusted.
func TestPostgresOverTLS(t *testing.T) {
	t.Parallel()
	cert, key := cmdtest.Certificate(t)
	stranger, _ := cmdtest.Certificate(t)
	s := cmdtest.Postgres(t)
	lease, err := cmdtest.PostgresLocker(t, s, "billing/7").Acquire(t.Context(), "order:1")
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, lease.Release(context.Background())) })
	put := func(name, file string) string {
		pem, err := os.ReadFile(file)
		cmdtest.Must(t, err)
		path, err := s.Put(name, pem)
		cmdtest.Must(t, err)
		return path
	}
	exec := cmdtest.Executing(t, cmdtest.Database(t, s))
	exec("ALTER SYSTEM SET ssl_cert_file = '" + put("tls.crt", cert) + "'")
	exec("ALTER SYSTEM SET ssl_key_file = '" + put("tls.key", key) + "'")
	exec("ALTER SYSTEM SET ssl = on")
	_, err = s.Put("pg_hba.conf", []byte("host all postgres 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 trust\n"))
	cmdtest.Must(t, err)
	exec("SELECT pg_reload_conf()")
	plain := s.URL("service")
	with := func(mode string) string { return strings.Replace(plain, "sslmode=disable", mode, 1) }
	cmdtest.Eventually(t, "the server speaks TLS", func() bool {
		return command(t, "list", "--postgres", with("sslmode=require")).Status == ui.ExitClean
	})

	for _, mode := range []string{"", "sslmode=allow", "sslmode=prefer", "sslmode=require", "sslmode=verify-ca",
		"sslmode=verify-full"} {
		command(t, "list", "--postgres", with(mode), "--tls-ca", cert).Want(t, ui.ExitClean, "order:1", "billing/7")
		command(t, "list", "--postgres", with(mode), "--tls-ca", stranger).Want(t, ui.ExitError, "x509:",
			"check --tls-ca")
	}
	otherName := strings.Replace(with("sslmode=require"), "127.0.0.1", "localhost", 1)
	command(t, "list", "--postgres", otherName, "--tls-ca", cert).Want(t, ui.ExitError, "x509:")
	command(t, "list", "--postgres", strings.Replace(otherName, "require", "verify-ca", 1), "--tls-ca", cert).Want(t,
		ui.ExitClean, "order:1")
	command(t, "list", "--postgres", otherName, "--tls-insecure-skip-verify").Want(t, ui.ExitClean, "order:1")
	command(t, "list", "--postgres", with("sslmode=verify-full")).Want(t, ui.ExitError, "x509:", "check --tls-ca")
	command(t, "list", "--postgres", with("sslmode=verify-full&sslrootcert="+cert)).Want(t, ui.ExitClean, "order:1")
	command(t, "list", "--postgres", plain, "--tls-ca", cert).Want(t, ui.ExitError, "plain text",
		"sslmode=verify-full")
	command(t, "doctor", "--postgres", with("sslmode=require"), "--tls-ca", stranger).Want(t, ui.ExitError, "x509:",
		"check --tls-ca")
	command(t, cmdtest.Patient("--postgres", with(""), "--tls-ca", cert)...).Want(t, ui.ExitError,
		"connected as service", "fsync off")
}
