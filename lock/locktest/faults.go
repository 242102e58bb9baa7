package locktest

import (
	"math/rand/v2"
	"time"
)

// Faults describes the faults between one client and one server. The zero value is a network without faults
// and without delay. Probabilities are between 0 and 1.
type Faults struct {
	RequestDelay Delay // how long a request travels
	ReplyDelay   Delay // how long its reply travels

	LoseRequest float64 // probability that a request never arrives
	LoseReply   float64 // probability that it takes effect and nobody hears of it

	Late   float64 // probability that a request arrives LateBy later than it should
	LateBy Delay

	Duplicate float64 // probability that a request takes effect again, DuplicateAfter later
	// DuplicateAfter is the delay after the first delivery. TCP does not duplicate; clients
	// that retry after a timeout do.
	DuplicateAfter Delay

	LoseWake  float64 // probability that a wake-up message is lost, and nobody knows
	WakeDelay Delay
}

// Delay draws a random duration. A nil Delay is no delay.
type Delay func(*rand.Rand) time.Duration

// Between returns a Delay that draws uniformly from low to high.
func Between(low, high time.Duration) Delay {
	return func(r *rand.Rand) time.Duration { return low + time.Duration(r.Float64()*float64(high-low)) }
}

// LongTail returns a Delay that draws from low to high, and with probability p up to worst.
func LongTail(low, high, worst time.Duration, p float64) Delay {
	usual, rare := Between(low, high), Between(high, worst)
	return func(r *rand.Rand) time.Duration {
		if chance(r, p) {
			return rare(r)
		}
		return usual(r)
	}
}

func (d Delay) draw(r *rand.Rand) time.Duration {
	if d == nil {
		return 0
	}
	return d(r)
}

func chance(r *rand.Rand, p float64) bool { return p > 0 && r.Float64() < p }

// fate is what happens to one request: drawn before it is sent, and always from
// the same number of draws, so that one fault switched off leaves the others be.
type fate struct {
	lost, replyLost, late, twice bool
	there, back, again           time.Duration
}

func (f *Faults) draw(r *rand.Rand) fate {
	out := fate{
		lost:      r.Float64() < f.LoseRequest,
		replyLost: r.Float64() < f.LoseReply,
		late:      r.Float64() < f.Late,
		twice:     r.Float64() < f.Duplicate,
		there:     f.RequestDelay.draw(r),
		back:      f.ReplyDelay.draw(r),
	}
	if out.late {
		out.there += f.LateBy.draw(r)
	}
	if out.twice {
		out.again = f.DuplicateAfter.draw(r)
	}
	return out
}
