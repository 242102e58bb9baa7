package notify

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/lockscope/lockscope/scanner"
)

const (
	minResend  = time.Second
	maxRetries = 10
)

func newConfig(k kind, opts []Option) (*config, error) {
	c := &config{
		format:   Lockscope,
		timeout:  DefaultTimeout,
		retries:  DefaultRetries,
		headers:  http.Header{},
		resend:   DefaultResend,
		severity: map[scanner.Class]string{},
		runbook:  DefaultRunbookURL,
		only:     map[string][]kind{},
	}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(c)
	}
	if k == webhook {
		if !slices.Contains(Formats(), c.format) {
			return nil, fmt.Errorf("%w: WithFormat(%q): use one of %v", ErrInvalidOption, c.format, Formats())
		}
		k = kind(c.format)
	}
	for name, kinds := range c.only {
		if !slices.Contains(kinds, k) {
			return nil, fmt.Errorf("%w: %s: it has no effect on %s: leave it out", ErrInvalidOption, name, k)
		}
	}
	if err := errors.Join(c.validateSending(), c.validateAlerts(), c.validateEvents(k)); err != nil {
		return nil, err
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func (c *config) validateSending() error {
	switch {
	case c.timeout < time.Millisecond:
		return fmt.Errorf("%w: WithTimeout(%v): must be at least 1ms", ErrInvalidOption, c.timeout)
	case c.retries < 0 || c.retries > maxRetries:
		return fmt.Errorf("%w: WithRetries(%d): must be between 0 and %d", ErrInvalidOption, c.retries, maxRetries)
	case c.basic && c.bearer != "":
		return fmt.Errorf("%w: use WithBasicAuth or WithBearerToken, not both", ErrInvalidOption)
	case hasControl(c.bearer):
		return fmt.Errorf("%w: WithBearerToken: the token contains a line break or another control character",
			ErrInvalidOption)
	}
	for name, values := range c.headers {
		if !headerName.MatchString(name) {
			return fmt.Errorf("%w: WithHeader: %q is not a header name", ErrInvalidOption, name)
		}
		if slices.ContainsFunc(values, hasControl) {
			return fmt.Errorf("%w: WithHeader: the value of %s contains a control character", ErrInvalidOption, name)
		}
	}
	return nil
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// labelName leaves out the colon, which is for recording rules' metric names.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func (c *config) validateAlerts() error {
	if c.resend < minResend {
		return fmt.Errorf("%w: WithResend(%v): must be at least %v", ErrInvalidOption, c.resend, minResend)
	}
	for name := range c.labels {
		if !labelName.MatchString(name) {
			return fmt.Errorf("%w: WithLabels: %q is not a label name", ErrInvalidOption, name)
		}
		if isOwnLabel(name) {
			return fmt.Errorf("%w: WithLabels: %s is set by the notifier", ErrInvalidOption, name)
		}
	}
	if c.generator != "" {
		if _, err := parseEndpoint(c.generator); err != nil {
			return fmt.Errorf("%w: WithGeneratorURL: %w", ErrInvalidOption, err)
		}
	}
	return nil
}

func (c *config) validateEvents(k kind) error {
	if k != kind(PagerDuty) {
		return nil
	}
	if c.routingKey == "" || strings.ContainsFunc(c.routingKey, unicode.IsSpace) || hasControl(c.routingKey) {
		return fmt.Errorf("%w: WithRoutingKey: the key is missing or holds a space or a control character: "+
			"copy the integration key of a PagerDuty service", ErrInvalidOption)
	}
	for class, severity := range c.severity {
		if !slices.Contains(Severities(), severity) {
			return fmt.Errorf("%w: WithSeverity(%s, %q): PagerDuty takes one of %v", ErrInvalidOption, class, severity,
				Severities())
		}
	}
	return nil
}
