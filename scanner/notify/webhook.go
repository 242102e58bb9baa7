package notify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockscope/lockscope/scanner"
)

var (
	_ scanner.Notifier = (*Webhook)(nil)
	_ scanner.Notifier = (*Alertmanager)(nil)
)

// Webhook posts reports as JSON. Each is a [scanner.Document] of at most 1 MiB: Omitted counts the findings that do
// not fit, keys of more than 1 KiB are cut, and their bytes are left out from 4 KiB on. A document has everything
// that one sweep found, so a receiver that missed one loses only its resolved findings. A Webhook is safe for
// concurrent use.
type Webhook struct {
	to       *endpoint
	sender   *sender
	instance string
	always   bool
}

// NewWebhook makes a notifier that posts to an http or https URL, which may contain credentials for basic
// authentication. Nothing is sent before Notify. For an invalid URL or option, the error matches [ErrInvalidURL] or
// [ErrInvalidOption].
func NewWebhook(url string, opts ...Option) (*Webhook, error) {
	c, err := newConfig(webhook, opts)
	if err != nil {
		return nil, err
	}
	to, err := newEndpoint(url, "", c)
	if err != nil {
		return nil, err
	}
	return &Webhook{to: to, sender: newSender(c), instance: c.instance, always: c.always}, nil
}

// Notify posts r and returns when the receiver has answered 2xx. It does not send a standby report, nor one without
// confirmed and resolved findings (see [WithEveryReport]). The error is a *[SendError]. The receiver may have the
// document even after an error, because an answer can get lost. When ctx ends, Notify returns soon, with the errors
// of the context and of the last attempt.
func (w *Webhook) Notify(ctx context.Context, r scanner.Report) error {
	if r.Standby || !w.always && len(r.Findings)+len(r.Resolved)+r.Overflow == 0 {
		return nil
	}
	body, err := json.Marshal(newDocument(r, w.instance))
	if err != nil {
		return fmt.Errorf("notify: encode report: %w", err)
	}
	return w.sender.post(ctx, w.to, body)
}
