package notify

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lockscope/lockscope/scanner"
)

var (
	_ scanner.Notifier = (*Webhook)(nil)
	_ scanner.Notifier = (*Alertmanager)(nil)
)

// Webhook posts reports as JSON, in the [Format] that [WithFormat] sets. It may be used
// concurrently.
//
//   - [Lockscope] posts each report as a [scanner.Document] of at most 1 MiB. Findings that
//     do not fit are counted in Omitted. Keys of more than 1 KiB are cut, and their bytes
//     left out from 4 KiB on. The document lists every finding of the sweep, so a receiver
//     that missed one loses only its resolved findings.
//   - [Slack] posts one message when a finding is new or resolved. The message lists these
//     by class, within Slack's limits, and counts the findings that it leaves out. Its
//     headline counts all findings.
//   - [PagerDuty] triggers an incident for each new finding and resolves it when the
//     finding has ended: at most 20 events a report, worst findings first, and the rest
//     with the next reports. At most [MaxIncidents] are open at a time; further findings
//     wait until one is resolved.
//
// Slack and PagerDuty notifiers remember the findings that their receiver has taken, for as
// long as the process runs. A new process posts lasting findings to Slack once more; for
// PagerDuty they have the same dedup key and so the same incident. PagerDuty keeps an
// incident open until it is resolved: a process that sweeps once and exits needs
// [scanner.WithMemory] to report resolved findings. If you resolve an incident by hand
// while its finding lasts, the same process does not trigger it again. Grouping,
// repeating, silencing and routing are Alertmanager's: use [NewAlertmanager] for them.
type Webhook struct {
	to     *endpoint
	sender *sender
	format formatter
}

// NewWebhook makes a notifier that posts to an http or https URL, which may hold
// credentials for basic authentication. An empty URL is [PagerDutyURL] for the format
// [PagerDuty]. Nothing is sent before Notify; a bad URL or option is an error that matches
// [ErrInvalidURL] or [ErrInvalidOption].
func NewWebhook(url string, opts ...Option) (*Webhook, error) {
	c, err := newConfig(webhook, opts)
	if err != nil {
		return nil, err
	}
	if url == "" && c.format == PagerDuty {
		url = PagerDutyURL
	}
	to, err := newEndpoint(url, "", c)
	if err != nil {
		return nil, err
	}
	return &Webhook{to: to, sender: newSender(c), format: newFormatter(c)}, nil
}

// Notify posts r and returns when the receiver has answered 2xx. A standby report
// is not sent, nor is one with neither findings nor resolved ones (see
// [WithEveryReport]). After an error, a *[SendError], the receiver may have got the
// document all the same: an answer can get lost. When ctx ends, Notify returns
// soon, with the context's error and the last attempt's. Of several events, one that
// PagerDuty refuses as malformed does not stop the next; the first error is returned.
func (w *Webhook) Notify(ctx context.Context, r scanner.Report) error {
	if r.Standby {
		return nil
	}
	messages, err := w.format.messages(r)
	if err != nil {
		return fmt.Errorf("notify: encode report: %w", err)
	}
	var first error
	for _, m := range messages {
		err := w.sender.post(ctx, w.to, m.body)
		if err == nil {
			if m.taken != nil {
				m.taken()
			}
			continue
		}
		first = cmp.Or(first, err)
		if stops(err) {
			break
		}
	}
	return first
}
