package inspect

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// DialTimeout bounds the first answer, so that an unreachable system does not use up the time of the others.
const DialTimeout = 5 * time.Second

// ReachAdvice is what to do about a server that does not answer.
const ReachAdvice = "check that the server is up, the address is right, and this machine can reach it"

// Remedies are the advice for failures of a class, unless the error itself has one.
type Remedies map[driver.Class]string

// Explain names the system, the address and the remedy. ClassOf finds the error's class still.
func Explain(in Inspector, err error, r Remedies) error {
	if err == nil {
		return nil
	}
	err = OneLine(err)
	class := driver.ClassOf(err)
	if driver.HasRemedy(err) || r[class] == "" && !class.Silent() {
		return fmt.Errorf("%s %s: %w", in.System(), in.Address(), err)
	}
	return fmt.Errorf("%s %s: %w: %s", in.System(), in.Address(), err, cmp.Or(r[class], ReachAdvice))
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
