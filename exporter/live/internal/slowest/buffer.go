package slowest

import "github.com/lockscope/lockscope/exporter/live/state"

// buffer holds the steps of one call. It grows to state.MaxSteps if needed, and is reused.
type buffer struct {
	steps   []Step
	latest  int // where the next one goes, once the buffer is full
	omitted int
}

func (b *buffer) add(s Step) {
	if len(b.steps) < state.MaxSteps {
		b.steps = append(b.steps, s)
		return
	}
	const first = state.MaxSteps / 2
	b.steps[first+b.latest] = s
	b.latest = (b.latest + 1) % (state.MaxSteps - first)
	b.omitted++
}

// clear prepares a buffer for another call.
func (b *buffer) clear() {
	clear(b.steps) // errors and names
	*b = buffer{steps: b.steps[:0]}
}
