package exporter

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// maxKeyLabel bounds the label key, in bytes: a Redis key may have 512 MB.
const maxKeyLabel = 200

const cached = " Cached; see distributed_lock_scanner_last_success_timestamp_seconds."

func desc(name, help string, labels ...string) *prometheus.Desc {
	var opts []prometheus.DescOpt
	if strings.HasSuffix(name, "_seconds") {
		opts = append(opts, prometheus.WithUnit("seconds"))
	}
	free := prometheus.UnconstrainedLabels(labels)
	return prometheus.V2.NewDesc("distributed_lock_scanner_"+name, help, free, nil, opts...)
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1e3
}

// label makes s a label value: valid UTF-8 of at most limit bytes.
func label(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	end := limit
	for !isBoundary(s, end) {
		end--
	}
	return s[:end] + "…"
}

func isBoundary(s string, i int) bool { return s[i]&0xC0 != 0x80 }
