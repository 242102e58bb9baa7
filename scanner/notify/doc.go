// Package notify sends the findings of a scanner to a webhook or to Alertmanager.
//
// The usual way to be alerted is a rule on the exporter's metrics. Use this package where nothing scrapes: in a cron
// job, on a host outside the monitored network, or for a receiver that needs the keys. Use only one of the two for
// Alertmanager: with both, every leak alerts twice.
//
//   - [NewWebhook] posts one document when the findings change. A template writes it as the receiver wants it: the
//     folder examples/cron has templates for Slack and PagerDuty.
//   - [NewAlertmanager] posts an alert for each finding with every report, because Alertmanager ends an alert that is
//     not repeated. Grouping, silences and routes are Alertmanager's.
//
// A report with more than 20 findings is one alert with their number, and a document with the worst of them.
//
// What leaves the process are keys, nodes, evidence, and holders as far as the lock's value names them. Never a lock's
// token or value.
//
// An attempt has 3 s. Failed connections and 5xx answers are tried three times, and again with the next report.
// Redirects are not followed, and HTTP_PROXY has no effect: see [Access]. Errors name an endpoint by scheme and host
// alone, and show nothing of its answer but the status: URLs are often secrets, and servers repeat requests.
package notify
