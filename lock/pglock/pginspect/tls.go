package pginspect

import (
	"crypto/tls"
	"crypto/x509"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// secure has a connection use what the --tls flags say: the authority and the host name are
// verified then, whatever sslmode is, and no attempt is in plain text. sslmode=verify-ca leaves
// the host name out. Without a flag the connection string alone counts.
func secure(c *pgx.ConnConfig, flags *tls.Config) error {
	if flags == nil {
		return nil
	}
	all := []*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}
	isPlain := func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil }
	all = slices.DeleteFunc(append(all, c.Fallbacks...), isPlain)
	if len(all) == 0 {
		return errPlainPostgres
	}
	for i, f := range all {
		all[i] = &pgconn.FallbackConfig{Host: f.Host, Port: f.Port, TLSConfig: merge(f.TLSConfig, flags, f.Host)}
	}
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
	return nil
}

// merge is what the flags say, and where they say nothing what the connection string does.
func merge(own, flags *tls.Config, host string) *tls.Config {
	merged := flags.Clone()
	merged.ServerName = host
	if merged.RootCAs == nil {
		merged.RootCAs = own.RootCAs
	}
	if len(merged.Certificates) == 0 {
		merged.Certificates = own.Certificates
	}
	if own.InsecureSkipVerify && own.VerifyPeerCertificate != nil && !merged.InsecureSkipVerify {
		roots := merged.RootCAs
		merged.InsecureSkipVerify = true
		merged.VerifyConnection = func(s tls.ConnectionState) error { return verifyAuthority(s, roots) }
	}
	return merged
}

// verifyAuthority verifies a chain of certificates, of any host.
func verifyAuthority(s tls.ConnectionState, roots *x509.CertPool) error {
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(options)
	return err
}
