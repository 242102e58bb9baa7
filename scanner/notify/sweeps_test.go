package notify

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestThousandsOfLeaks on a real server: they are one post, one alert a sweep, and a few lines of the log. When they
// are gone, that is one more post.
func TestThousandsOfLeaks(t *testing.T) {
	const many = 3000
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { must(t, client.Close()) })
	pipe := client.Pipeline()
	for i := range many {
		pipe.Set(t.Context(), fmt.Sprintf("lock:%d", i), "1", 0)
	}
	_, err := pipe.Exec(t.Context())
	must(t, err)
	hook, am := newTarget(t), newTarget(t)
	var log bytes.Buffer
	s, err := scanner.New([]redis.UniversalClient{client}, scanner.WithConfirmAfter(time.Millisecond),
		scanner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		scanner.WithNotifier(newWebhook(t, Webhook{URL: hook.URL})),
		scanner.WithNotifier(newAlertmanager(t, Alertmanager{URLs: []string{am.URL}})))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	for range 3 {
		_, err = s.Sweep(t.Context())
		must(t, err)
		if all := decode[[]alert](t, am); len(all) != 1 || all[0].Labels["lock_node"] != server.Addr() ||
			all[0].Annotations["summary"] != "3000 findings of at least 1000 locks." {
			t.Errorf("%d alerts, the first %+v", len(all), all[0])
		}
	}
	if d := decode[report.Document](t, hook); len(hook.got()) != 1 || len(d.Findings)+d.Omitted+d.Overflow != many {
		t.Errorf("%d posts; %d findings, %d omitted, %d over", len(hook.got()), len(d.Findings), d.Omitted, d.Overflow)
	}
	if n := strings.Count(log.String(), "\n"); n > 50 {
		t.Errorf("%d lines of the log:\n%.2000s", n, log.String())
	}
	must(t, client.FlushAll(t.Context()).Err())
	_, err = s.Sweep(t.Context())
	must(t, err)
	if d := decode[report.Document](t, hook); len(hook.got()) != 2 || len(d.Findings) != 0 {
		t.Errorf("%d posts, the last with %d findings", len(hook.got()), len(d.Findings))
	}
	if n := strings.Count(log.String(), "\n"); n > 80 {
		t.Errorf("%d lines of the log", n)
	}
}
