// Package notify sends the findings of a scanner to a webhook, a Slack channel, PagerDuty
// or Alertmanager.
//
// The usual way to be alerted is a rule on the exporter's metrics. Use this package where nothing scrapes: in a cron
// job, on a host outside the monitored network, or for a receiver that needs the keys. Use only one of the two for
// Alertmanager: with both, every leak alerts twice.
//
// No notifier keeps a goroutine or a connection between two calls, so there is nothing to
// close.
//
// # Which notifier
//
//   - [NewAlertmanager] sends every finding with every report. Grouping, silences, routes
//     and repeats are Alertmanager's.
//   - [NewWebhook] posts each report as a [scanner.Document], for programs.
//   - NewWebhook with [WithFormat]([Slack]) posts a message when a finding is new or resolved.
//   - NewWebhook with WithFormat([PagerDuty]) opens an incident for each finding and resolves
//     it, with a dedup key made of group, class, node and key.
//
// [Webhook] has their bounds and what they remember.
//
// # What leaves the process
//
// Keys, nodes, evidence, and holders as far as the lock's value names them. Never a lock's token or value. Keys are
// as [scanner.KeyText] returns them: one line of printable text.
//
// # How it is sent
//
// [WithTimeout] bounds each attempt. Connection failures and 5xx answers are retried ([WithRetries]) after a growing,
// jittered pause; 4xx answers are not. Redirects are followed only within the same scheme, host and port, and only
// where they keep the POST (307, 308). Environment variables such as HTTP_PROXY have no effect unless [WithProxy]
// uses them. Errors name an endpoint by scheme and host alone. They never show a password, a token, or the path and
// query of a URL, which are a secret for many webhooks.
package notify
