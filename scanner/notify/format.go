package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/lockscope/lockscope/scanner"
)

// Format is the shape in which a webhook writes a report.
type Format string

// The formats of a webhook. Alertmanager has a notifier of its own: see [NewAlertmanager].
const (
	// Lockscope is a [scanner.Document], posted with every report that has findings or
	// resolved ones. It is the default.
	Lockscope Format = "lockscope"
	// Slack is a message for a Slack incoming webhook. It is posted when a finding is new
	// or resolved.
	Slack Format = "slack"
	// PagerDuty is an event of the Events API v2 for each finding that is new or resolved.
	// It needs [WithRoutingKey].
	PagerDuty Format = "pagerduty"
)

// Formats returns all formats.
func Formats() []Format { return []Format{Lockscope, Slack, PagerDuty} }

// formatter turns reports into requests. It may be used concurrently.
type formatter interface {
	// messages returns the requests for a report, in the order in which they are sent.
	messages(r scanner.Report) ([]message, error)
}

func newFormatter(c *config) formatter {
	switch c.format {
	case Slack:
		return &slack{config: c}
	case PagerDuty:
		return &pagerDuty{config: c, open: map[string]bool{}}
	}
	return &documents{instance: c.instance, always: c.always}
}

// message is one request.
type message struct {
	body  []byte
	taken func() // called when the receiver has taken it; may be nil
}

// stops reports whether the messages after a failed one wait for the next report. A
// receiver that refuses the content of one message may still take the next.
func stops(err error) bool {
	status, ok := statusOf(err)
	return !ok || status != http.StatusBadRequest
}

// identity tells findings apart. Nothing in it changes while a finding lasts.
type identity struct {
	group     string
	class     scanner.Class
	node, key string
}

func identityOf(f *scanner.Finding) identity {
	id := identity{f.Group, f.Class, f.Node, f.Key}
	if f.Place != "" {
		id.key = f.Lock()
	}
	return id
}

// dedupKey is an identity in PagerDuty. Other processes and later versions must make the
// same one, or incidents stay open.
func (id identity) dedupKey() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", id.group, id.class, id.node, id.key))
	return "lockscope-" + hex.EncodeToString(sum[:16])
}

// ended returns the resolved findings of r. It leaves out a key that leaked again after it
// was healed: that finding lasts.
func ended(r *scanner.Report) []scanner.Finding {
	lasting := make(map[identity]bool, len(r.Findings))
	for i := range r.Findings {
		lasting[identityOf(&r.Findings[i])] = true
	}
	var all []scanner.Finding
	for i := range r.Resolved {
		if !lasting[identityOf(&r.Resolved[i])] {
			all = append(all, r.Resolved[i])
		}
	}
	return all
}
