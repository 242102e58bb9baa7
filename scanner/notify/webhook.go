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

// Webhook posts reports as JSON, each a [scanner.Document] of at most
// 1 MiB: findings that do not fit are counted in Omitted, keys of more than 1 KiB are
// cut, and their bytes left out from 4 KiB on. It is all that one sweep knows to be
// wrong, so a receiver that missed one loses nothing but its resolved findings. It may be used concurrently.
type Webhook struct {
	to       *endpoint
	sender   *sender
	instance string
	always   bool
}

// NewWebhook makes a notifier that posts to an http or https URL, which may hold
// credentials for basic authentication. Nothing is sent before Notify; a bad URL
// or option is an error that matches [ErrInvalidURL] or [ErrInvalidOption].
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

// Notify posts r and returns when the receiver has answered 2xx. A standby report
// is not sent, nor is one with neither findings nor resolved ones (see
// [WithEveryReport]). After an error, a *[SendError], the receiver may have got the
// document all the same: an answer can get lost. When ctx ends, Notify returns
// soon, with the context's error and the last attempt's.
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
