package main

import (
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/notify"
)

// notifyFlags say who is told of findings.
type notifyFlags struct {
	alertmanagers *flags.List
	webhooks      *flags.List
}

func (n *notifyFlags) register(set *pflag.FlagSet) {
	n.alertmanagers, n.webhooks = flags.NewList("URL"), flags.NewList("URL")
	set.Var(n.alertmanagers, "alertmanager", "post findings as alerts to this Alertmanager (http://host:9093); repeat it for each member of a cluster")
	set.Var(n.webhooks, "webhook", "post reports with findings as JSON to this URL; as it may be a secret, prefer its variable")
}

// options makes the notifiers; resend is the time between two reports.
func (n *notifyFlags) options(resend time.Duration, logger *slog.Logger) ([]scanner.Option, error) {
	var opts []scanner.Option
	if urls := n.alertmanagers.Values(); len(urls) > 0 {
		am, err := notify.NewAlertmanager(urls, notify.WithResend(resend), notify.WithLogger(logger))
		if err != nil {
			return nil, err
		}
		opts = append(opts, scanner.WithNotifier(am))
	}
	for _, url := range n.webhooks.Values() {
		hook, err := notify.NewWebhook(url)
		if err != nil {
			return nil, err
		}
		opts = append(opts, scanner.WithNotifier(hook))
	}
	return opts, nil
}
