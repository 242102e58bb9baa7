package backend

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
)

// Errors of bad input, which never hold its text, and of a question before Connect.
var (
	ErrBadPostgres = errors.New("--postgres is no URL postgres://user@host:port/database and no key=value pairs, or " +
		"names files that cannot be read (its text is withheld: it may hold a password)")
	ErrBadEndpoint = errors.New("is not of the form host:port, http://host:port or https://host:port (its text is " +
		"withheld: it may hold a password; users are given by --etcd-username)")
	ErrBadServer = errors.New("is not of the form host:port (its text is withheld)")
	ErrBadRoot   = errors.New("--zookeeper-root: a path like /locks is needed")
	ErrBadAuth   = errors.New("LOCKSCOPE_ZOOKEEPER_AUTH is not of the form user:password")
	ErrPlainText = errors.New("a --tls flag and an etcd endpoint that does not begin with https://: it would be " +
		"plain text")
	ErrPlainPostgres = errors.New(
		"a --tls flag and a --postgres that is in plain text (sslmode=disable, or a socket): " +
			"use sslmode=verify-full")
	ErrPlainZooKeeper = errors.New("a --tls flag and --zookeeper, which lockscope reads in plain text: " +
		"leave the flag out")
	ErrNotConnected = errors.New("backend: Connect was not called, or failed")
)

// Remedies are what helps against failures of a class, where the error itself does not say so.
type Remedies map[driver.Class]string

// Explain names the system, the address and the remedy. ClassOf finds the error's class still.
func Explain(b Backend, err error, r Remedies) error {
	if err == nil {
		return nil
	}
	err = OneLine(err)
	remedy := cmp.Or(r[driver.ClassOf(err)], "is it up, is the address right, may this machine reach it?")
	if class := driver.ClassOf(err); r[class] == "" && !class.Silent() {
		return fmt.Errorf("%s %s: %w", b.System(), b.Address(), err)
	}
	return fmt.Errorf("%s %s: %w: %s", b.System(), b.Address(), err, remedy)
}

// OneLine is err on one line: pgx has one for each address that it has tried.
func OneLine(err error) error { return &oneLine{err} }

type oneLine struct{ err error }

func (e *oneLine) Error() string { return strings.Join(strings.Fields(e.err.Error()), " ") }

func (e *oneLine) Unwrap() error { return e.err }

// CertificateAdvice is what to do about a server that is not believed; "" if that is not what is wrong.
func CertificateAdvice(err error) string {
	if err == nil || !strings.Contains(err.Error(), "x509:") {
		return ""
	}
	return "its certificate is not believed: see --tls-ca, and the host name of the endpoint"
}
