// Package notify tells others what a scanner found: a webhook, or Alertmanager
// directly.
//
// The usual way to be alerted is a rule on the exporter's metrics. This package is
// for where nothing scrapes: a cron job, a host outside of the monitored network,
// a receiver that wants the keys themselves. Use one of the two for Alertmanager:
// with both, every leak alerts twice.
//
// A notifier sends what one [scanner.Report] says and forgets it. Neither keeps a
// goroutine or a connection between two calls, so there is nothing to close.
//
// # What leaves the process
//
// Keys, nodes, holders as far as the lock's value names them, and evidence.
// Never a lock's token or value, for a Report has none. Keys are as
// [scanner.KeyText] writes them: one line of printable text.
//
// # How it is sent
//
// Each attempt is bounded by [WithTimeout]; connection failures and 5xx answers
// are tried again ([WithRetries]) after a growing, jittered pause, 4xx answers
// are not. Redirects are followed only within the same scheme, host and port, and
// only where they keep the POST (307, 308). Environment variables such as
// HTTP_PROXY have no effect unless [WithProxy] says so. Errors name an endpoint by
// scheme and host alone, and never show a password, a token, or the path and query
// of a URL, which are a secret for many webhooks.
package notify
