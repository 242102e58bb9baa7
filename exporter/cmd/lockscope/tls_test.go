package main

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// TestTLSFlagsAreNotIgnored by any command: what cannot obey them refuses them.
func TestTLSFlagsAreNotIgnored(t *testing.T) {
	cert, _ := cmdtest.Certificate(t)
	for _, c := range []string{"list", "doctor"} {
		for _, named := range [][]string{
			{"--redis", "127.0.0.1:1"}, {"--postgres", "postgres://u@127.0.0.1:1/db?sslmode=disable"},
			{"--etcd", "127.0.0.1:1"}, {"--zookeeper", "127.0.0.1:1"},
		} {
			command(t, append([]string{c, "--tls-ca", cert}, named...)...).Want(t, app.ExitError, "plain text")
			command(t, append([]string{c, "--tls-ca", "/missing"}, named...)...).Want(t, app.ExitError, "--tls-ca")
		}
	}
	mixed := []string{"list", "--tls-ca", cert, "--redis", "rediss://127.0.0.1:1", "--zookeeper", "127.0.0.1:1"}
	command(t, mixed...).WantNot(t, "plain text")
	for _, c := range []string{"scan", "discover", "serve"} {
		command(t, c, "--tls-ca", cert, "--redis", "127.0.0.1:1").Want(t, app.ExitError, "plain text")
	}
}
