package diagnosis

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// observed makes samples of a clock with a true offset and drift, over a network whose delays differ between samples
// and between directions.
func observed(r *rand.Rand, offset time.Duration, drift float64, span, delay time.Duration, n int) []Sample {
	var samples []Sample
	for i := range n {
		sent := span * time.Duration(i) / time.Duration(n)
		there, back := time.Duration(r.Int64N(int64(delay))), time.Duration(r.Int64N(int64(delay)))
		at := sent + there
		samples = append(samples, Sample{at + offset + time.Duration(drift*float64(at)), sent, at + back})
	}
	return samples
}

func TestMeasureIsRightWithinItsError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		offset := time.Duration(r.Int64N(int64(20*time.Second))) - 10*time.Second
		drift := (r.Float64() - 0.5) / 20
		span := time.Duration(1+r.Int64N(10)) * time.Second
		c := Measure(observed(r, offset, drift, span, 1+time.Duration(r.Int64N(int64(50*time.Millisecond))),
			3+r.IntN(100)))
		if math.Abs(c.Drift-drift) > c.DriftError+1e-4 {
			t.Fatalf("drift %v ± %v, truly %v", c.Drift, c.DriftError, drift)
		}
		// The offset drifts during the samples.
		slack := time.Duration(math.Abs(drift) * float64(span+time.Second))
		if (c.Offset - offset).Abs() > c.OffsetError+slack {
			t.Fatalf("offset %v ± %v, truly %v", c.Offset, c.OffsetError, offset)
		}
	}
}

func TestMeasureOfAlmostNothing(t *testing.T) {
	if c := Measure(nil); c != (Clock{}) {
		t.Errorf("%+v", c)
	}
	one := Sample{Server: time.Second, Sent: 0, Gotten: 2 * time.Millisecond}
	c := Measure([]Sample{one})
	if c.Samples != 1 || c.Offset != time.Second-time.Millisecond || c.OffsetError != time.Millisecond ||
		c.DriftError != 1 {
		t.Errorf("%+v", c)
	}
}

func TestQuantile(t *testing.T) {
	var sorted []time.Duration
	for i := range 100 {
		sorted = append(sorted, time.Duration(i+1))
	}
	if p50, p99 := quantile(sorted, 0.5), quantile(sorted, 0.99); p50 != 51 || p99 != 100 {
		t.Errorf("p50 %d, p99 %d", p50, p99)
	}
	if quantile(nil, 0.5) != 0 || quantile(sorted[:1], 0.99) != 1 {
		t.Error("of few")
	}
}

func TestParseInfoOfStrangers(t *testing.T) {
	for _, text := range []string{"", "\r\n", "nonsense",
		"redis_version:7.2.4\r\nvalkey_version:8.0.1\r\nmaxmemory:x\r\n"} {
		s := ParseInfo(text)
		if s.MaxMemory != 0 || s.Role != "" {
			t.Errorf("%q: %+v", text, s)
		}
	}
	if v := ParseInfo("redis_version:7.2.4\r\nvalkey_version:8.0.1\r\n").Version; v != "7.2.4 (Valkey 8.0.1)" {
		t.Errorf("%q", v)
	}
	if a, b := major("7.0.15"); a != 7 || b != 0 {
		t.Errorf("%d.%d", a, b)
	}
	if a, b := major("weird"); a != 0 || b != 0 {
		t.Errorf("%d.%d", a, b)
	}
}
