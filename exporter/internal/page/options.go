package page

import (
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// Defaults of New.
const (
	// DefaultInterval is how often a stream sends a document: as often as the plot gets a new point.
	DefaultInterval = time.Second
	// DefaultMaxStreams is enough for a team during an incident. Further viewers poll.
	DefaultMaxStreams = 16
	// DefaultSourceTimeout bounds the time a Source may take for one document.
	DefaultSourceTimeout = 5 * time.Second
	// DefaultWriteTimeout ends the stream of a client that stopped reading.
	DefaultWriteTimeout = 10 * time.Second
)

// Option configures New.
type Option func(*Handler)

// WithReport shows the findings of a leak scanner. The function returns the last report and whether there is one. It
// is called for every document, possibly concurrently, and must not block. nil changes nothing.
func WithReport(report func() (report.Report, bool)) Option {
	return func(h *Handler) { h.report = report }
}

// WithViews names the views that are served below the page's address: profile, history and trace. The page links to
// them. It ignores other names.
func WithViews(names ...string) Option {
	return func(h *Handler) { h.views = names }
}

// WithFleet links to the page of all processes. The address may be relative to the page's.
func WithFleet(address string) Option {
	return func(h *Handler) { h.fleet = address }
}

// WithInterval sets how often a stream sends a document. The options from here on are for tests.
func WithInterval(d time.Duration) Option { return func(h *Handler) { h.interval = d } }

// WithMaxStreams sets how many streams may be open at a time; with zero every page polls.
func WithMaxStreams(n int) Option { return func(h *Handler) { h.maxStreams = n } }

// WithSourceTimeout bounds the context of a Source.
func WithSourceTimeout(d time.Duration) Option { return func(h *Handler) { h.sourceTimeout = d } }

// WithWriteTimeout sets how long a stream's client may take to read one document.
func WithWriteTimeout(d time.Duration) Option { return func(h *Handler) { h.writeTimeout = d } }
