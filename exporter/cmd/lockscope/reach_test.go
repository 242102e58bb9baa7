package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner/notify/alertmanagertest"
)

// certificate makes one for 127.0.0.1 that signs itself, for server and client.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockscope test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	must(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	return certFile, keyFile
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	port := locktest.Port(t)
	s := locktest.Servers(t, 1, redisproc.WithArgs("--tls-port", fmt.Sprint(port), "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "yes"))[0]
	set(t, admin(t, s), "lock:leak", "v", 0)
	url := fmt.Sprintf("rediss://127.0.0.1:%d", port)
	command(t, quick("--redis", url, "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key)...).want(t, exitFindings, "lock:leak")
	command(t, quick("--redis", url, "--tls-insecure-skip-verify", "--tls-cert", cert, "--tls-key", key)...).want(t, exitFindings)
	command(t, quick("--redis", url, "--tls-cert", cert, "--tls-key", key)...).want(t, exitError, "x509")
	command(t, patient("--redis", url, "--tls-cert", cert, "--tls-key", key)...).want(t, exitError, "see --tls-ca")
	command(t, patient("--redis", url, "--tls-ca", cert)...).want(t, exitError, "fail")
}

func TestSentinel(t *testing.T) {
	servers := locktest.Servers(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
	must(t, err)
	t.Cleanup(func() { must(t, sentinel.Stop()) })
	set(t, admin(t, servers[0]), "lock:leak", "v", 0)
	master := []string{"--redis", sentinel.Addr(), "--sentinel-master", redisproc.MasterName}
	command(t, quick(master...)...).want(t, exitFindings, "lock:leak", "sentinel:"+redisproc.MasterName)
	command(t, append([]string{"list"}, master...)...).want(t, exitClean, "leak")
	command(t, patient(master...)...).want(t, exitError, "one Sentinel group counts as one node", "master with 1 replicas")
	// Without the flag the doctor sees what was meant.
	command(t, patient("--redis", sentinel.Addr())...).want(t, exitError, "--sentinel-master")
}

func TestScanReadsReplicas(t *testing.T) {
	master := locktest.Servers(t, 1, redisproc.WithArgs("--repl-diskless-sync-delay", "0"))[0]
	replica := locktest.Servers(t, 1, redisproc.WithArgs("--replicaof", strings.Replace(master.Addr(), ":", " ", 1)))[0]
	set(t, admin(t, master), "lock:leak", "v", 0)
	rc := admin(t, replica)
	eventually(t, "the replica has the key", func() bool { return rc.DBSize(t.Context()).Val() == 1 })
	command(t, quick("--redis", master.Addr(), "--replica", replica.Addr())...).want(t, exitFindings, "lock:leak", master.Addr())
	if stats := rc.Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_scan:calls=") {
		t.Errorf("the replica was not read:\n%s", stats)
	}
}

// TestScanAlerts tells a real Alertmanager.
func TestScanAlerts(t *testing.T) {
	am := alertmanagertest.Start(t)
	s := locktest.Servers(t, 1)[0]
	set(t, admin(t, s), "lock:leak", ours, 0)
	command(t, quick("--redis", s.Addr(), "--alertmanager", am.URL(), "--every", "30m")...).want(t, exitFindings)
	alertmanagertest.Await(t, "the alert fires", func() bool { return len(am.Alerts(t)) == 1 })
	alert := am.Alerts(t)[0]
	if text := fmt.Sprint(alert); !strings.Contains(text, "lock:leak") || !strings.Contains(text, s.Addr()) || strings.Contains(text, secretToken) {
		t.Errorf("%s", text)
	}
	if left := time.Until(alert.EndsAt); left < time.Hour || left > 2*time.Hour+time.Minute {
		t.Errorf("the alert ends in %v, not four times --every from now", left)
	}
}

// TestShortForms of naming a server, and of durations.
func TestShortForms(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	s := locktest.Servers(t, 1, redisproc.WithArgs("--unixsocket", socket))[0]
	set(t, admin(t, s), "lock:day", "v", 20*time.Hour)
	for name, args := range map[string][]string{"unix://": {"--redis", "unix://" + socket}, "path": {"--redis", socket}} {
		t.Log(name)
		command(t, quick(append(args, "--max-ttl", "1d")...)...).want(t, exitClean, "1 keys match")
		command(t, quick(append(args, "--max-ttl", "0.5h")...)...).want(t, exitFindings, "long_ttl")
	}
	commandWith(t, []string{"REDIS_URL=redis://" + s.Addr(), "LOCKSCOPE_MAX_TTL=2d"}, "", quick()...).want(t, exitClean, s.Addr())
	o := commandWith(t, []string{"REDIS_URL=redis://u:s3cr3t@h:x1"}, "", quick()...)
	o.want(t, exitError, "Redis URL 1")
	o.wantNot(t, "s3cr3t")
	commandWith(t, []string{"REDIS_URL=redis://127.0.0.1:1"}, "", quick("--redis", s.Addr(), "--max-ttl", "1d")...).want(t, exitClean)
}
