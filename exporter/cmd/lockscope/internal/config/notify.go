package config

import (
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/notify"
)

// NotifyFlags say where findings are sent.
type NotifyFlags struct {
	alertmanagers *ui.List
	webhooks      *ui.List
	labels        map[string]string
}

func (n *NotifyFlags) register(set *pflag.FlagSet) {
	n.alertmanagers, n.webhooks = ui.NewList("URL"), ui.NewList("URL")
	set.Var(n.alertmanagers, "alertmanager", "post findings to this Alertmanager (http://host:9093). Repeat "+
		"it for each member of a cluster")
	set.StringToStringVar(&n.labels, "label", nil,
		"label for each alert, as `name=value`. Repeat it for several. "+
			"Alertmanager can route by it, such as by team=payments")
	set.Var(n.webhooks, "webhook", "post the findings as JSON to this URL when they change. If the URL is a secret, "+
		"set the variable instead")
	ui.Group(set, ui.Alerts, "alertmanager", "label", "webhook")
}

// options makes the notifiers; resend is the time between two reports.
func (n *NotifyFlags) options(resend time.Duration, logger *slog.Logger) ([]scanner.Option, error) {
	var opts []scanner.Option
	if len(n.labels) > 0 && len(n.alertmanagers.Values()) == 0 {
		return nil, errors.New("--label needs --alertmanager: labels are for its alerts")
	}
	if urls := n.alertmanagers.Values(); len(urls) > 0 {
		am, err := notify.NewAlertmanager(notify.Alertmanager{URLs: urls, Interval: resend, Labels: n.labels, Logger: logger})
		if err != nil {
			return nil, err
		}
		opts = append(opts, scanner.WithNotifier(am))
	}
	for _, url := range n.webhooks.Values() {
		hook, err := notify.NewWebhook(notify.Webhook{URL: url})
		if err != nil {
			return nil, err
		}
		opts = append(opts, scanner.WithNotifier(hook))
	}
	return opts, nil
}
