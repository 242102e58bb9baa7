package notify

import (
	"crypto/tls"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// Defaults of NewWebhook and NewAlertmanager.
const (
	// DefaultTimeout bounds one attempt, from dialing to the end of the answer.
	DefaultTimeout = 3 * time.Second
	// DefaultRetries is how often a failed attempt is repeated. With the default
	// timeout a dead endpoint costs at most the 10 s that a scanner gives a notifier.
	DefaultRetries = 2
	// DefaultResend is the interval at which an Alertmanager is assumed to hear of
	// a finding again: the scanner's default interval between sweeps.
	DefaultResend = time.Minute
	// HoldIntervals is how many resend intervals an alert outlives its last report.
	// Three reports may get lost before it resolves by mistake.
	HoldIntervals = 4
	// DefaultRunbookURL is where the runbooks of the alerts are; a page is named
	// like its alert.
	DefaultRunbookURL = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks/"
)

type config struct {
	timeout   time.Duration
	retries   int
	username  string
	password  string
	bearer    string
	headers   http.Header
	tls       *tls.Config
	proxy     func(*http.Request) (*url.URL, error)
	logger    *slog.Logger
	instance  string
	always    bool
	resend    time.Duration
	labels    map[string]string
	severity  map[scanner.Class]string
	runbook   string
	generator string
	basic     bool
	only      map[string]kind // options that only one kind of notifier has

	transport http.RoundTripper // replaces the network in tests
}

type kind string

const (
	webhook      kind = "NewWebhook"
	alertmanager kind = "NewAlertmanager"
)

// Option configures NewWebhook and NewAlertmanager. One that only the other of
// the two knows is refused.
type Option func(*config)

// WithTimeout bounds one attempt, instead of [DefaultTimeout]. At least 1 ms.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithRetries sets how often an attempt is repeated that met no answer or a 5xx,
// instead of [DefaultRetries]: 0 to 10.
func WithRetries(n int) Option { return func(c *config) { c.retries = n } }

// WithBasicAuth sends a user name and a password with every request.
func WithBasicAuth(username, password string) Option {
	return func(c *config) { c.basic, c.username, c.password = true, username, password }
}

// WithBearerToken sends a token in the Authorization header of every request.
func WithBearerToken(token string) Option { return func(c *config) { c.bearer = token } }

// WithHeader adds a header to every request, such as a tenant's X-Scope-OrgID.
// Its value is treated as a secret.
func WithHeader(name, value string) Option { return func(c *config) { c.headers.Add(name, value) } }

// WithTLSConfig sets roots, client certificates and the like. It is copied.
func WithTLSConfig(t *tls.Config) Option { return func(c *config) { c.tls = t.Clone() } }

// WithProxy sets how a proxy is chosen, for example [http.ProxyFromEnvironment].
// Without it there is none, whatever the environment says.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) Option {
	return func(c *config) { c.proxy = proxy }
}

// WithLogger sets who is told of an Alertmanager that did not take the alerts while
// another one did. Without it, and with nil, nobody is.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithInstance says which scanner speaks: the field instance of a webhook's
// document, the label instance of an alert. Leave it out where processes take turns
// at scanning, for an alert of another instance is another alert.
func WithInstance(name string) Option { return func(c *config) { c.instance = name } }

// WithEveryReport makes a webhook post every report, also one without findings: a
// sign of life. Standby reports stay unsent.
func WithEveryReport() Option {
	return func(c *config) { c.always = true; c.only["WithEveryReport"] = webhook }
}

// WithResend says at which interval reports come, instead of [DefaultResend]: the
// interval between sweeps, to which the duration of a sweep is best added. An alert
// ends [HoldIntervals] of them after the last report that had it, if no report has
// said before that it is resolved. At least 1 s.
func WithResend(interval time.Duration) Option {
	return func(c *config) { c.resend = interval; c.only["WithResend"] = alertmanager }
}

// WithLabels adds labels to every alert, to route it by: cluster, team. The labels
// that every alert has cannot be replaced.
func WithLabels(labels map[string]string) Option {
	return func(c *config) { c.labels = maps.Clone(labels); c.only["WithLabels"] = alertmanager }
}

// WithSeverity sets the label severity for a class, instead of warning.
func WithSeverity(class scanner.Class, severity string) Option {
	return func(c *config) { c.severity[class] = severity; c.only["WithSeverity"] = alertmanager }
}

// WithRunbookURL sets what stands before "<alertname>.md" in the annotation
// runbook_url, instead of [DefaultRunbookURL]. With "" there is no such annotation.
func WithRunbookURL(base string) Option {
	return func(c *config) { c.runbook = base; c.only["WithRunbookURL"] = alertmanager }
}

// WithGeneratorURL sets the page an alert links to as its source, such as the
// exporter's. Without it there is none.
func WithGeneratorURL(u string) Option {
	return func(c *config) { c.generator = u; c.only["WithGeneratorURL"] = alertmanager }
}
