package servers

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

const (
	mostServers = 1000
	mostSecret  = 64 << 10
)

// servers reads and checks everything that Config says.
func (c RedisConfig) servers() ([]*redis.Options, error) {
	urls, err := c.allURLs()
	if err != nil {
		return nil, err
	}
	if c.PasswordFile != "" {
		if c.Password, err = ReadSecret(c.PasswordFile); err != nil {
			return nil, fmt.Errorf("--redis-password-file: %w", err)
		}
	}
	servers := make([]*redis.Options, 0, len(urls))
	for i, raw := range urls {
		opt, err := parseURL(raw)
		if err != nil {
			return nil, c.badURL(i, err)
		}
		c.fillIn(opt)
		servers = append(servers, opt)
	}
	if err := c.TLS.apply(servers); err != nil {
		return nil, err
	}
	for _, opt := range servers {
		opt.Dialer = dialer(opt.DialTimeout, opt.TLSConfig)
	}
	return servers, nil
}

// badURL names the flag and the place of a URL: its text may hold a password.
func (c RedisConfig) badURL(i int, err error) error {
	source := c.source
	if i >= len(c.URLs) {
		i, source = i-len(c.URLs), "--redis-file"
	}
	if source == "" {
		//lint:ignore ST1005 Redis is a name
		return fmt.Errorf("Redis URL %d %w", i+1, err)
	}
	return fmt.Errorf("%s: Redis URL %d %w", source, i+1, err)
}

func (c RedisConfig) allURLs() ([]string, error) {
	urls := c.URLs
	if c.File != "" {
		more, err := c.readFile()
		if err != nil {
			return nil, fmt.Errorf("--redis-file: %w", err)
		}
		urls = append(urls[:len(urls):len(urls)], more...)
	}
	switch {
	case len(urls) == 0:
		return nil, ErrNoServers
	case len(urls) > mostServers:
		return nil, fmt.Errorf("%d Redis URLs are too many: use at most %d", len(urls), mostServers)
	}
	return urls, nil
}

func (c RedisConfig) readFile() ([]string, error) {
	in := c.Stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return readLines(in)
}

// readLines skips empty lines and comments.
func readLines(in io.Reader) ([]string, error) {
	var lines []string
	scan := bufio.NewScanner(in)
	for scan.Scan() {
		if line := strings.TrimSpace(scan.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, scan.Err()
}

// ReadSecret reads a file that holds one secret. A newline at its end, which most
// editors add, is not a part of it.
func ReadSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSecret))
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}

// CheckURL says what is wrong with a URL, without its text.
func CheckURL(raw string) error {
	_, err := parseURL(raw)
	return err
}

// parseURL makes a server of a URL or an address. Its error never holds the text.
func parseURL(raw string) (*redis.Options, error) {
	opt, err := redlock.ParseURL(raw)
	if err != nil {
		return nil, ErrBadURL
	}
	return opt, nil
}

// fillIn sets what a URL leaves open, and what every connection here has in
// common: one attempt, a deadline, no commands a least-privilege user may not send.
func (c RedisConfig) fillIn(opt *redis.Options) {
	if opt.Username == "" && opt.Password == "" {
		opt.Username = c.Username
	}
	if opt.Password == "" {
		opt.Password = c.Password
	}
	opt.MaxRetries = -1
	opt.DialerRetries = 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = dialTimeout, callTimeout, callTimeout
	opt.ContextTimeoutEnabled = true
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = redisconn.NoMaintNotifications()
}

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
