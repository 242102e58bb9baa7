package main

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

func TestTLS(t *testing.T) {
	cert, key := cmdtest.Certificate(t)
	port := locktest.Port(t)
	s := locktest.Servers(t, 1, redisproc.WithArgs("--tls-port", fmt.Sprint(port), "--tls-cert-file", cert,
		"--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "yes"))[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:leak", "v", 0)
	url := fmt.Sprintf("rediss://127.0.0.1:%d", port)
	command(t, cmdtest.Quick("--redis", url, "--tls-ca", cert, "--tls-cert", cert, "--tls-key", key)...).Want(t,
		ui.ExitFindings, "lock:leak")
	command(t, cmdtest.Quick("--redis", url, "--tls-insecure-skip-verify", "--tls-cert", cert, "--tls-key",
		key)...).Want(t, ui.ExitFindings)
	command(t, cmdtest.Quick("--redis", url, "--tls-cert", cert, "--tls-key", key)...).Want(t, ui.ExitError, "x509")
	command(t, cmdtest.Patient("--redis", url, "--tls-cert", cert, "--tls-key", key)...).Want(t, ui.ExitError,
		"check --tls-ca")
	command(t, cmdtest.Patient("--redis", url, "--tls-ca", cert)...).Want(t, ui.ExitError, "fail")
}

func TestSentinel(t *testing.T) {
	servers := locktest.Servers(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, sentinel.Stop()) })
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lock:leak", "v", 0)
	master := []string{"--redis", sentinel.Addr(), "--sentinel-master", redisproc.MasterName}
	command(t, cmdtest.Quick(master...)...).Want(t, ui.ExitFindings, "lock:leak", "sentinel:"+redisproc.MasterName)
	command(t, append([]string{"list"}, master...)...).Want(t, ui.ExitClean, "leak")
	command(t, cmdtest.Patient(master...)...).Want(t, ui.ExitError, "one Sentinel group counts as one node",
		"master with 1 replica")
	// Without the flag the doctor recognises a Sentinel.
	command(t, cmdtest.Patient("--redis", sentinel.Addr())...).Want(t, ui.ExitError, "--sentinel-master")
}

// TestTLSFlagsAreNotIgnored: a command that cannot apply them refuses them.
func TestTLSFlagsAreNotIgnored(t *testing.T) {
	cert, _ := cmdtest.Certificate(t)
	for _, c := range []string{"list", "doctor"} {
		for _, named := range [][]string{
			{"--redis", "127.0.0.1:1"}, {"--postgres", "postgres://u@127.0.0.1:1/db?sslmode=disable"},
			{"--etcd", "127.0.0.1:1"}, {"--zookeeper", "127.0.0.1:1"},
		} {
			command(t, append([]string{c, "--tls-ca", cert}, named...)...).Want(t, ui.ExitError, "plain text")
			command(t, append([]string{c, "--tls-ca", "/missing"}, named...)...).Want(t, ui.ExitError, "--tls-ca")
		}
	}
	mixed := []string{"list", "--tls-ca", cert, "--redis", "rediss://127.0.0.1:1", "--zookeeper", "127.0.0.1:1"}
	command(t, mixed...).WantNot(t, "plain text")
	for _, c := range []string{"scan", "discover", "serve"} {
		command(t, c, "--tls-ca", cert, "--redis", "127.0.0.1:1").Want(t, ui.ExitError, "plain text")
	}
}
