package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// startPostgres starts a PostgreSQL server that ends with the test. ok is false if
// none is installed.
func startPostgres(t *testing.T) (dsn string, ok bool) {
	t.Helper()
	bin := postgresBin()
	if bin == "" {
		return "", false
	}
	attr := unprivileged(t, "postgres")
	dir := directoryOf(t, attr)
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", dir, "-U", "tester", "-A", "trust", "--no-sync", "-E",
		"UTF8", "--locale", "C")
	initdb.SysProcAttr, initdb.Dir = &syscall.SysProcAttr{Credential: attr.Credential}, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", dir, "-p", port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	server.SysProcAttr, server.Dir = attr, dir
	p, err := process.Start("postgres", t.TempDir(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Signal(syscall.SIGINT) // fast shutdown
		<-p.Done()
	})
	dsn = fmt.Sprintf("postgres://tester@127.0.0.1:%s/postgres?sslmode=disable", port)
	await(t, "pgx", dsn)
	return dsn, true
}

// postgresBin is the directory of the server's programs; "" if there is none. Debian
// keeps them off the PATH.
func postgresBin() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	for _, initdb := range slices.Backward(found) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(initdb), "postgres")); err == nil {
			return filepath.Dir(initdb)
		}
	}
	return ""
}

// unprivileged makes a process of root's run as the named user, which servers insist
// on, and die with this one.
func unprivileged(t *testing.T, name string) *syscall.SysProcAttr {
	t.Helper()
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() != 0 {
		return attr
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			t.Fatal(err)
		}
	}
	uid, errU := strconv.ParseUint(u.Uid, 10, 32)
	gid, errG := strconv.ParseUint(u.Gid, 10, 32)
	if errU != nil || errG != nil {
		t.Fatal(errU, errG)
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr
}

// directoryOf makes a directory that the process may use.
func directoryOf(t *testing.T, attr *syscall.SysProcAttr) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lockscope-server-") // others may not enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if c := attr.Credential; c != nil {
		if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func freePort(t *testing.T) string {
	t.Helper()
	reserved, err := process.ReservePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reserved.Release(); err != nil {
			t.Error(err)
		}
	})
	return strconv.Itoa(reserved.Numbers[0])
}

// await waits until a server answers.
func await(t *testing.T, driver, dsn string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for err = db.PingContext(ctx); err != nil; err = db.PingContext(ctx) {
		if ctx.Err() != nil {
			t.Fatalf("%s does not answer: %v", driver, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
