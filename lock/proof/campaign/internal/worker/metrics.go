//go:build linux

package worker

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// Dump is the metrics of a worker as they were somewhere between two instants. Series are
// called name{label=value,...}, without the prefix distributed_lock_; of a histogram there
// is the count.
type Dump struct {
	From   int64              `json:"from"`
	To     int64              `json:"to"`
	Last   bool               `json:"last,omitempty"` // nothing is counted any more
	Values map[string]float64 `json:"values"`
}

const metricPrefix = "distributed_lock_"

// metricsWriter writes dumps to a file.
type metricsWriter struct {
	registry *prometheus.Registry
	file     *history.Writer
}

func newMetricsWriter(path string, registry *prometheus.Registry) (*metricsWriter, error) {
	file, err := history.Create(path)
	return &metricsWriter{registry, file}, err
}

// again dumps at intervals, for a worker that is killed before it can say how it ended.
func (m *metricsWriter) again(every time.Duration, over <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			_ = m.dump(false) // the last one fails, too
		}
	}
}

func (m *metricsWriter) dump(last bool) error {
	d := Dump{From: history.Now(), Last: last, Values: make(map[string]float64)}
	families, err := m.registry.Gather()
	if err != nil {
		return err
	}
	d.To = history.Now()
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), metricPrefix) {
			continue
		}
		for _, one := range f.Metric {
			// Every series of a resource exists from its first Acquire on: most are zero.
			if v := valueOf(one); v != 0 {
				d.Values[seriesName(f.GetName(), one.Label)] = v
			}
		}
	}
	m.file.Write(d)
	return nil
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	default:
		return float64(m.Histogram.GetSampleCount())
	}
}

func seriesName(name string, labels []*dto.LabelPair) string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(name, metricPrefix))
	b.WriteByte('{')
	for i, l := range labels {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l.GetName() + "=" + l.GetValue())
	}
	b.WriteByte('}')
	return b.String()
}

// close writes the last dump.
func (m *metricsWriter) close() error {
	if err := m.dump(true); err != nil {
		return err
	}
	return m.file.Close()
}
