package cmdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// URLLogged finds in its log where a serve is served.
var URLLogged = regexp.MustCompile(`http://[^"\]]+`)

// Get asks a page or the metrics of a serve.
func Get(t testing.TB, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	Must(t, err)
	req.Header.Set("Accept", "application/json, text/plain;q=0.5")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	Must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	Must(t, err)
	return resp.StatusCode, string(text)
}

// Certificate makes one for 127.0.0.1 that signs itself, for server and client.
func Certificate(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockscope test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	Must(t, err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	Must(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	Must(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	return certFile, keyFile
}

// Webhook serves an address until the test ends. posted receives the document of every request to it.
func Webhook(t testing.TB) (url string, posted <-chan report.Document) {
	t.Helper()
	documents := make(chan report.Document, 1000)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var d report.Document
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &d)
		documents <- d
	}))
	t.Cleanup(hook.Close)
	return hook.URL, documents
}
