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
	// DefaultRetries is how often a failed attempt is repeated. With the default timeout, a dead endpoint costs at
	// most the 10 s that a scanner gives a notifier.
	DefaultRetries = 2
	// DefaultResend is the assumed interval between reports: the scanner's default interval between sweeps.
	DefaultResend = time.Minute
	// HoldIntervals is how many resend intervals an alert outlives its last report. Three reports may get lost before
	// the alert resolves by mistake.
	HoldIntervals = 4
	// DefaultRunbookURL is the address of the runbooks. A page has the name of its alert.
	DefaultRunbookURL = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks/"
)

type config struct {
	format     Format
	timeout    time.Duration
	retries    int
	username   string
	password   string
	bearer     string
	routingKey string
	headers    http.Header
	tls        *tls.Config
	proxy      func(*http.Request) (*url.URL, error)
	logger     *slog.Logger
	instance   string
	always     bool
	resend     time.Duration
	labels     map[string]string
	severity   map[scanner.Class]string
	runbook    string
	generator  string
	basic      bool
	only       map[string][]kind // kinds of notifiers that an option is for; any, if it is not here

	transport http.RoundTripper // replaces the network in tests
}

// kind is what a notifier talks to: Alertmanager, or the format of a webhook.
type kind string

const (
	alertmanager kind = "alertmanager"
	webhook      kind = "webhook" // in the format of the options
)

// Option configures NewWebhook and NewAlertmanager. An option that the notifier does not
// use is refused.
type Option func(*config)

// usedBy says which notifiers use an option.
func (c *config) usedBy(option string, kinds ...kind) { c.only[option] = kinds }

// WithFormat sets the format of a webhook, instead of [Lockscope].
func WithFormat(f Format) Option {
	return func(c *config) {
		c.format = f
		c.usedBy("WithFormat", kind(Lockscope), kind(Slack), kind(PagerDuty))
	}
}

// WithRoutingKey sets the integration key of the PagerDuty service that gets the events.
// It is a secret: read it from a file or a secret store. The format [PagerDuty] needs it.
func WithRoutingKey(key string) Option {
	return func(c *config) { c.routingKey = key; c.usedBy("WithRoutingKey", kind(PagerDuty)) }
}

// WithTimeout bounds one attempt, instead of [DefaultTimeout]. At least 1 ms.
func WithTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WithRetries sets how often an attempt without an answer, or with a 5xx answer, is repeated, instead of
// [DefaultRetries]: 0 to 10.
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

// WithTLSConfig sets roots, client certificates and the like. The configuration is copied.
func WithTLSConfig(t *tls.Config) Option { return func(c *config) { c.tls = t.Clone() } }

// WithProxy sets a function that chooses the proxy, such as [http.ProxyFromEnvironment]. Without it no proxy is used,
// whatever the environment says.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) Option {
	return func(c *config) { c.proxy = proxy }
}

// WithLogger sets the logger for an Alertmanager that did not take the alerts while another did. Without it, and with
// nil, nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithInstance names the scanner: in the field instance of a webhook's document, in the
// label instance of an alert, in the headline in Slack and in a detail in PagerDuty. Leave
// it out where processes take turns at scanning, for an alert of another instance is
// another alert.
func WithInstance(name string) Option { return func(c *config) { c.instance = name } }

// WithEveryReport makes a webhook post every report, also one without findings: a
// sign of life. Standby reports stay unsent. It is for the formats [Lockscope] and [Slack].
func WithEveryReport() Option {
	return func(c *config) { c.always = true; c.usedBy("WithEveryReport", kind(Lockscope), kind(Slack)) }
}

// WithResend sets the interval between reports, instead of [DefaultResend]: the interval between sweeps, plus ideally
// the duration of a sweep. An alert ends [HoldIntervals] of them after the last report that had it, unless a report
// resolves it before. At least 1 s.
func WithResend(interval time.Duration) Option {
	return func(c *config) { c.resend = interval; c.usedBy("WithResend", alertmanager) }
}

// WithLabels adds labels to every alert for routing, such as cluster or team. It cannot replace the notifier's own
// labels.
func WithLabels(labels map[string]string) Option {
	return func(c *config) { c.labels = maps.Clone(labels); c.usedBy("WithLabels", alertmanager) }
}

// WithSeverity sets the severity of alerts and PagerDuty events for a class, instead of
// warning. PagerDuty takes critical, error, warning and info.
func WithSeverity(class scanner.Class, severity string) Option {
	return func(c *config) {
		c.severity[class] = severity
		c.usedBy("WithSeverity", alertmanager, kind(PagerDuty))
	}
}

// WithRunbookURL sets what stands before "<alertname>.md" in links to runbooks, instead of
// [DefaultRunbookURL]. With "" there are no such links. It is for alerts and for the
// formats [Slack] and [PagerDuty].
func WithRunbookURL(base string) Option {
	return func(c *config) {
		c.runbook = base
		c.usedBy("WithRunbookURL", alertmanager, kind(Slack), kind(PagerDuty))
	}
}

// WithGeneratorURL sets the page that alerts and PagerDuty events link to as their source,
// such as the exporter's. Without it there is none.
func WithGeneratorURL(u string) Option {
	return func(c *config) {
		c.generator = u
		c.usedBy("WithGeneratorURL", alertmanager, kind(PagerDuty))
	}
}
