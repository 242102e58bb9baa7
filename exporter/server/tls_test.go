package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/server"
)

type keyPair struct {
	cert, key string // PEM
	pool      *x509.CertPool
}

// certificate returns a self-signed certificate for 127.0.0.1, the same for the whole run.
func certificate(t *testing.T) *keyPair {
	t.Helper()
	pair, err := makeCertificate()
	must(t, err)
	return pair
}

var makeCertificate = sync.OnceValues(func() (*keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockscope test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	pair := &keyPair{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
		pool: x509.NewCertPool(),
	}
	pair.pool.AppendCertsFromPEM([]byte(pair.cert))
	return pair, nil
})

// hashOfOpensesame is bcrypt's, at its least cost.
const hashOfOpensesame = "$2a$04$bOu6.Lrlj0F/mQuBKJlXneoCZcaiuEEiD.jf1RZimSfZAwiKxsFoy"

// TestDefaultIsLoopback: without a password, others see the pages only if somebody says so.
func TestDefaultIsLoopback(t *testing.T) {
	host, _, err := net.SplitHostPort(server.DefaultAddress)
	must(t, err)
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		t.Errorf("the default address is %s", server.DefaultAddress)
	}
}
