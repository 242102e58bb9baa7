package servers

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// TLS is what rediss:// URLs connect with. Paths are of PEM files.
type TLS struct {
	CA         string // instead of the system's authorities
	Cert, Key  string // of this client, where servers want one
	SkipVerify bool   // believe anybody
}

// ErrNoCertificate says that a file of authorities holds none.
var ErrNoCertificate = errors.New("has no PEM certificate")

func (t TLS) set() bool { return t != TLS{} }

// Config is for connections to other systems; nil if no flag is set.
func (t TLS) Config() (*tls.Config, error) {
	if !t.set() {
		return nil, nil
	}
	roots, pairs, err := t.load()
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: roots, Certificates: pairs, InsecureSkipVerify: t.SkipVerify,
		MinVersion: tls.VersionTLS12}, nil
}

// apply completes the TLS configuration of the servers that have one.
func (t TLS) apply(servers []*redis.Options) error {
	if !t.set() {
		return nil
	}
	roots, pairs, err := t.load()
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.TLSConfig == nil {
			return fmt.Errorf("%w: a --tls flag and %s, which would use plain text: use a rediss:// URL",
				ErrConflict,
				redisconn.Name(s))
		}
		s.TLSConfig.RootCAs = roots
		s.TLSConfig.Certificates = pairs
		s.TLSConfig.InsecureSkipVerify = s.TLSConfig.InsecureSkipVerify || t.SkipVerify
	}
	return nil
}

func (t TLS) load() (roots *x509.CertPool, pairs []tls.Certificate, err error) {
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, nil, fmt.Errorf("--tls-ca: %w", err)
		}
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, nil, fmt.Errorf("--tls-ca: %s %w", t.CA, ErrNoCertificate)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, nil, fmt.Errorf("%w: --tls-cert needs --tls-key, and --tls-key needs --tls-cert", ErrConflict)
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		pairs = []tls.Certificate{pair}
	}
	return roots, pairs, nil
}
