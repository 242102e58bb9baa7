package diagnosis

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// Examination is what was found of a system beside Redis.
type Examination struct {
	Backend string
	inspect.Examination
	Clock Clock
	Ping  Latency
}

// ExamineSystem examines a system as the user that takes the locks, for p.For plus a moment, and changes nothing. Errors,
// also the end of ctx, are in its results.
func ExamineSystem(ctx context.Context, in inspect.Inspector, p Policy) Examination {
	e := Examination{Backend: in.System(), Examination: in.Examine(ctx, p.SessionTTL)}
	if e.Answers {
		e.Clock, e.Ping = sampleClock(ctx, p, in.Ping)
		node := ""
		if e.Clock.Samples > 0 {
			node = in.Address()
			e.Add("clock", node, judgeClock(e.Clock))
			e.Add("clock drift", node, judgeDrift(e.Clock))
		}
		e.Add("latency", node, judgeLatency(e.Ping, p, "no answer: ", "see the connection check"))
	}
	for i := range e.Results {
		e.Results[i].Backend = e.Backend
	}
	return e
}

// sampleClock samples latency, and the clock of a server that tells the time with its answer.
func sampleClock(ctx context.Context, p Policy, ask func(context.Context) (time.Time, error)) (Clock, Latency) {
	began := time.Now()
	var samples []Sample
	l := sampleLatency(ctx, p, func(ctx context.Context) error {
		sent := time.Since(began)
		now, err := ask(ctx)
		if err == nil && !now.IsZero() {
			samples = append(samples, Sample{Server: now.Sub(began.Round(0)), Sent: sent, Gotten: time.Since(began)})
		}
		return err
	})
	return Measure(samples), l
}
