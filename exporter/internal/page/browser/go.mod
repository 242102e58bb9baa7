module github.com/lockscope/lockscope/exporter/internal/page/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/lockscope/lockscope v0.1.0
	github.com/lockscope/lockscope/exporter v0.0.0-00010101000000-000000000000
	go.uber.org/goleak v1.3.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/google/pprof v0.0.0-20261105003125-4bf881d7fb0b // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_golang v1.25.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/redis/go-redis/v9 v9.22.0 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

// Nobody installs this module: what it tests is the checkout around it, whichever commit that is.

replace (
	github.com/lockscope/lockscope => ../../../..
	github.com/lockscope/lockscope/dashboards => ../../../../dashboards
	github.com/lockscope/lockscope/exporter => ../../../../exporter
	github.com/lockscope/lockscope/lock/contrib/zklock => ../../../../lock/contrib/zklock
	github.com/lockscope/lockscope/lock/etcdlock => ../../../../lock/etcdlock
	github.com/lockscope/lockscope/lock/pglock => ../../../../lock/pglock
	github.com/lockscope/lockscope/lock/redsynclock => ../../../../lock/redsynclock
)
