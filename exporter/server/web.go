package server

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/prometheus/exporter-toolkit/web"
)

// DefaultAddress is the default address. It is on the loopback interface, because the pages show who holds which
// lock. The port is that of Redis plus 11000: outside the range of Prometheus exporters (9100 to 9999, then 10000
// on), apart from Redis Cluster (16379) and Sentinel (26379), and below the ports that an operating system assigns.
const DefaultAddress = "127.0.0.1:17379"

// Web says where and how Serve serves. Its zero value is DefaultAddress without TLS or authentication.
type Web struct {
	// Addresses are host:port each; none means DefaultAddress. Port 0 picks a free port, and an empty host means all
	// interfaces.
	Addresses []string
	// ConfigFile is a web configuration file of Prometheus' exporter-toolkit, for TLS and basic authentication; empty
	// for neither. Changed certificates and users are read again.
	ConfigFile string
	// Ready, if not nil, is called once all addresses are bound, before the first request is answered. The URLs are
	// those of Addresses, in their order, with the actual ports.
	Ready func(urls []string)
}

// Register adds the flags -web.listen-address, which may be repeated, and -web.config.file to fs. Programs with
// github.com/spf13/pflag register on a separate flag set and pass that to AddGoFlagSet.
func (w *Web) Register(fs *flag.FlagSet) {
	fs.Var(addressList{w}, "web.listen-address", usageListen)
	fs.StringVar(&w.ConfigFile, "web.config.file", w.ConfigFile, usageConfig)
}

const (
	usageListen = "`host:port` to serve metrics and pages on; may be repeated (default " + DefaultAddress + ")"
	usageConfig = "`file` that configures TLS and basic authentication, in the format of Prometheus' exporter-toolkit"
)

// addressList is a flag that may be repeated.
type addressList struct{ *Web }

var _ flag.Value = addressList{}

// Type is the name of the value in the usage of package pflag.
func (addressList) Type() string { return "host:port" }

// String is empty without a Web: package flag asks a zero value what its default is.
func (l addressList) String() string {
	if l.Web == nil {
		return ""
	}
	return strings.Join(l.Addresses, ",")
}

func (l addressList) Set(s string) error {
	if err := checkAddress(s); err != nil {
		return err
	}
	l.Addresses = append(l.Addresses, s)
	return nil
}

func checkAddress(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is not host:port, for example 127.0.0.1:17379 or :17379", s)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return fmt.Errorf("%q has no usable port: use a number up to 65535, or 0 for any free port", s)
	}
	return nil
}

func (w *Web) addresses() []string {
	if len(w.Addresses) == 0 {
		return []string{DefaultAddress}
	}
	return w.Addresses
}

// check validates everything before anything is bound.
func (w *Web) check() error {
	for _, a := range w.addresses() {
		if err := checkAddress(a); err != nil {
			return fmt.Errorf("%w: %w", ErrListen, err)
		}
	}
	if w.ConfigFile == "" {
		return nil
	}
	if err := web.Validate(w.ConfigFile); err != nil {
		return fmt.Errorf("%w %s: %w", ErrWebConfig, w.ConfigFile, err)
	}
	return nil
}

// listen binds every address, or none.
func (w *Web) listen() ([]net.Listener, error) {
	var all []net.Listener
	for _, a := range w.addresses() {
		l, err := net.Listen("tcp", a)
		if err != nil {
			for _, bound := range all {
				_ = bound.Close()
			}
			return nil, listenError(a, err)
		}
		all = append(all, l)
	}
	return all, nil
}

func listenError(address string, err error) error {
	remedy := "choose another with --web.listen-address"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "stop what listens there, or " + remedy
	case errors.Is(err, syscall.EACCES):
		remedy = "ports below 1024 need a privilege: " + remedy
	}
	return fmt.Errorf("%w on %s: %w (%s)", ErrListen, address, err, remedy)
}

// urlOf is the URL of the listener for a browser on this host.
func urlOf(l net.Listener, scheme string) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return scheme + "://" + l.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, fmt.Sprint(addr.Port)))
}
