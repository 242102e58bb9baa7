package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

const (
	protocolGRPC = "grpc"
	protocolHTTP = "http/protobuf"
)

// signal is the variable for traces, or that for all signals if the former is not set.
func signal(name string) string {
	if traces := "OTEL_EXPORTER_OTLP_TRACES_" + name; env(traces) != "" {
		return traces
	}
	return "OTEL_EXPORTER_OTLP_" + name
}

// env reads a variable. Empty means not set, as in the specification.
func env(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// invalid is an error about a variable whose value may be shown.
func invalid(name, expected string) error {
	return fmt.Errorf("%w: %s=%q: use %s", ErrInvalidEnvironment, name, env(name), expected)
}

// enabled reports whether spans have a destination.
func enabled() (bool, error) {
	disabled, err := boolean("OTEL_SDK_DISABLED")
	if err != nil || disabled {
		return false, err
	}
	switch strings.ToLower(env("OTEL_TRACES_EXPORTER")) {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, invalid("OTEL_TRACES_EXPORTER", "otlp or none")
	}
	return env(signal("ENDPOINT")) != "", nil
}

func boolean(name string) (bool, error) {
	switch strings.ToLower(env(name)) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, invalid(name, "true or false")
	}
}

func protocol() (string, error) {
	name := signal("PROTOCOL")
	switch p := env(name); p {
	case "", protocolHTTP:
		return protocolHTTP, nil
	case protocolGRPC:
		return p, nil
	default:
		return "", invalid(name, protocolGRPC+" or "+protocolHTTP)
	}
}

// checkEnvironment finds values that the SDK would ignore.
func checkEnvironment() error {
	_, insecure := boolean(signal("INSECURE"))
	return errors.Join(
		checkEndpoint(signal("ENDPOINT")),
		checkPairs(signal("HEADERS")),
		checkNumber(signal("TIMEOUT"), "a positive number of milliseconds"),
		checkOneOf(signal("COMPRESSION"), "gzip", "none"),
		checkFiles(signal("CERTIFICATE"), signal("CLIENT_CERTIFICATE"), signal("CLIENT_KEY")),
		insecure,
		checkSampler(),
		checkNumber("OTEL_BSP_SCHEDULE_DELAY", "a positive number of milliseconds"),
		checkNumber("OTEL_BSP_EXPORT_TIMEOUT", "a positive number of milliseconds"),
		checkNumber("OTEL_BSP_MAX_QUEUE_SIZE", "a positive number of spans"),
		checkNumber("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "a positive number of spans"),
	)
}

// checkEndpoint withholds the value, which may contain a password.
func checkEndpoint(name string) error {
	u, err := url.Parse(env(name))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return fmt.Errorf("%w: %s: use a URL like http://collector:4318", ErrInvalidEnvironment, name)
	}
	if port := u.Port(); port != "" && checkPort(port) != nil {
		return fmt.Errorf("%w: %s: the URL has an invalid port", ErrInvalidEnvironment, name)
	}
	if u.User != nil {
		return fmt.Errorf("%w: %s contains a user or password, which would not be sent: use %s",
			ErrInvalidEnvironment, name, signal("HEADERS"))
	}
	return nil
}

func checkPort(port string) error {
	_, err := strconv.ParseUint(port, 10, 16)
	return err
}

// checkPairs withholds the values, because headers carry credentials.
func checkPairs(name string) error {
	list := env(name)
	if list == "" {
		return nil
	}
	for i, pair := range strings.Split(list, ",") {
		key, value, ok := strings.Cut(pair, "=")
		_, err := url.PathUnescape(value)
		if !ok || strings.TrimSpace(key) == "" || err != nil {
			return fmt.Errorf("%w: %s: entry %d is not key=value with special characters percent-encoded",
				ErrInvalidEnvironment, name, i+1)
		}
	}
	return nil
}

func checkNumber(name, expected string) error {
	if s := env(name); s != "" {
		if n, err := strconv.Atoi(s); err != nil || n <= 0 {
			return invalid(name, expected)
		}
	}
	return nil
}

func checkOneOf(name string, values ...string) error {
	s := env(name)
	if s == "" {
		return nil
	}
	for _, v := range values {
		if s == v {
			return nil
		}
	}
	return invalid(name, strings.Join(values, ", "))
}

func checkFiles(ca, cert, key string) error {
	if path := env(ca); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrInvalidEnvironment, ca, err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(text) {
			return invalid(ca, "a file with certificates in PEM form")
		}
	}
	certFile, keyFile := env(cert), env(key)
	if certFile == "" && keyFile == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		return fmt.Errorf("%w: %s and %s: %w", ErrInvalidEnvironment, cert, key, err)
	}
	return nil
}

func checkSampler() error {
	const name, arg = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	sampler := strings.ToLower(env(name))
	switch sampler {
	case "", "always_on", "always_off", "parentbased_always_on", "parentbased_always_off":
		return nil
	case "traceidratio", "parentbased_traceidratio":
	default:
		return invalid(name,
			"parentbased_always_on, parentbased_always_off, parentbased_traceidratio, always_on, always_off or "+
				"traceidratio")
	}
	if s := env(arg); s != "" {
		if ratio, err := strconv.ParseFloat(s, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return invalid(arg, "a ratio from 0 to 1")
		}
	}
	return nil
}
