package backend

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"
)

// Errors of bad input, which never hold its text.
var (
	ErrBadPostgres = errors.New("--postgres is neither a URL nor key=value pairs, or names files that cannot be read " +
		"(its text is withheld: it may hold a password). Use postgres://user@host:port/database")
	ErrBadEndpoint = errors.New("is not of the form host:port, http://host:port or https://host:port (its text is " +
		"withheld: it may hold a password). Name the user with --etcd-username")
	ErrBadServer = errors.New("is not of the form host:port (its text is withheld)")
	ErrBadRoot   = errors.New("--zookeeper-root is not a path: use one such as /locks")
	ErrBadAuth   = errors.New("LOCKSCOPE_ZOOKEEPER_AUTH is not of the form user:password")
	ErrPlainText = errors.New("a --tls flag is set, but an etcd endpoint would use plain text: begin it with " +
		"https://")
	ErrPlainPostgres = errors.New(
		"a --tls flag is set, but --postgres uses plain text (sslmode=disable, or a socket): " +
			"use sslmode=verify-full")
	ErrPlainZooKeeper = errors.New("a --tls flag is set, but lockscope reads --zookeeper in plain text: " +
		"leave the flag out")
)

// ReachAdvice is what to do about a server that does not answer.
const ReachAdvice = "check that the server is up, the address is right, and this machine can reach it"

// Remedies are the advice for failures of a class, unless the error itself has one.
type Remedies map[driver.Class]string

// Explain names the system, the address and the remedy. ClassOf finds the error's class still.
func Explain(b Backend, err error, r Remedies) error {
	if err == nil {
		return nil
	}
	err = OneLine(err)
	class := driver.ClassOf(err)
	if driver.HasRemedy(err) || r[class] == "" && !class.Silent() {
		return fmt.Errorf("%s %s: %w", b.System(), b.Address(), err)
	}
	return fmt.Errorf("%s %s: %w: %s", b.System(), b.Address(), err, cmp.Or(r[class], ReachAdvice))
}

// OneLine is err on one line: pgx has one for each try of an address, with TLS and without.
func OneLine(err error) error { return &oneLine{err} }

type oneLine struct{ err error }

func (e *oneLine) Error() string {
	var all string
	for line := range strings.Lines(e.err.Error()) {
		if line = strings.Join(strings.Fields(line), " "); !strings.HasSuffix(all, line) {
			all = strings.TrimSpace(all + " " + line)
		}
	}
	return all
}

func (e *oneLine) Unwrap() error { return e.err }

// CertificateAdvice is what to do about a certificate that is not trusted; "" for other errors.
func CertificateAdvice(err error) string {
	if err == nil || !strings.Contains(err.Error(), "x509:") {
		return ""
	}
	return "the server's certificate is not trusted: check --tls-ca and the host name of the endpoint"
}
