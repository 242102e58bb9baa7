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
	alerts, err := notify.NewAlertmanager(
		[]string{"http://alertmanager-0:9093", "http://alertmanager-1:9093"},
		notify.WithBearerToken(os.Getenv("ALERTMANAGER_TOKEN")),
		notify.WithResend(2*time.Minute),
		notify.WithLabels(map[string]string{"cluster": "eu-1"}),
	)
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

// A custom receiver gets each sweep's report as a [scanner.Document].
func ExampleNewWebhook() {
	hook, err := notify.NewWebhook("https://hooks.example.org/leaks", notify.WithEveryReport())
	if err != nil {
		log.Fatal(err)
	}
	s, err := scanner.Open([]string{"redis://redis-0:6379"}, scanner.WithNotifier(hook))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
}

// A Slack channel gets one message for each leaked lock, and one when it is resolved. The URL of an incoming webhook is
// a secret.
func ExampleWithFormat() {
	hook, err := notify.NewWebhook(os.Getenv("SLACK_WEBHOOK_URL"), notify.WithFormat(notify.Slack))
	if err != nil {
		log.Fatal(err)
	}
	s, err := scanner.Open([]string{"redis://redis-0:6379"}, scanner.WithNotifier(hook))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
}
