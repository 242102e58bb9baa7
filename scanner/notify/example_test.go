package notify_test

import (
	"log"
	"os"
	"time"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/notify"
)

// Two Alertmanagers of one cluster receive every leak for as long as it lasts.
func ExampleNewAlertmanager() {
	alerts, err := notify.NewAlertmanager(notify.Alertmanager{
		URLs:     []string{"http://alertmanager-0:9093", "http://alertmanager-1:9093"},
		Access:   notify.Access{BearerToken: os.Getenv("ALERTMANAGER_TOKEN")},
		Interval: 2 * time.Minute,
		Labels:   map[string]string{"cluster": "eu-1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := scanner.Open([]string{"redis://redis-0:6379"}, scanner.WithNotifier(alerts),
		scanner.WithInterval(2*time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
}

// A receiver gets one line of text whenever the findings change.
func ExampleNewWebhook() {
	hook, err := notify.NewWebhook(notify.Webhook{
		URL:      os.Getenv("WEBHOOK_URL"),
		Template: `{"text": {{json (printf "%d leaked locks" .Count)}}}`,
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := scanner.Open([]string{"redis://redis-0:6379"}, scanner.WithNotifier(hook))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
}
