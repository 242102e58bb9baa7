package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// startMariaDB starts a MariaDB server that ends with the test. ok is false if none is installed.
func startMariaDB(t *testing.T) (dsn string, ok bool) {
	t.Helper()
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		return "", false
	}
	daemon, err := exec.LookPath("mariadbd")
	if err != nil {
		if daemon, err = exec.LookPath("/usr/sbin/mariadbd"); err != nil { // Debian keeps it off a user's PATH
			return "", false
		}
	}
	if err := mysql.SetLogger(quiet{}); err != nil { // it does not answer at first
		t.Fatal(err)
	}
	attr := unprivileged(t, "mysql")
	dir := directoryOf(t, attr)
	data := "--datadir=" + filepath.Join(dir, "data")
	create := exec.Command(install, "--no-defaults", data, "--auth-root-authentication-method=normal",
		"--skip-test-db")
	create.SysProcAttr, create.Dir = &syscall.SysProcAttr{Credential: attr.Credential}, dir
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	port := freePort(t)
	server := exec.Command(daemon, "--no-defaults", data, "--port="+port, "--bind-address=127.0.0.1",
		"--socket="+filepath.Join(dir, "socket"), "--pid-file="+filepath.Join(dir, "pid"),
		"--innodb-flush-log-at-trx-commit=0")
	server.SysProcAttr, server.Dir = attr, dir
	p, err := process.Start("mariadbd", t.TempDir(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Signal(syscall.SIGTERM)
		<-p.Done()
	})
	dsn = fmt.Sprintf("root@tcp(127.0.0.1:%s)/mysql", port)
	await(t, "mysql", dsn)
	return dsn, true
}

type quiet struct{}

func (quiet) Print(v ...any) { fmt.Fprint(io.Discard, v...) }
