package sessions

import "iter"

// run is a number of calls in one state over consecutive samples. It takes 12 bytes.
type run struct {
	state uint32
	first uint32 // second of the first sample
	secs  uint16 // from the first sample to the last, inclusive
	calls uint16
}

// Limits of the fields of a run.
const (
	maxSecs  = 1<<16 - 1
	maxCalls = 1<<16 - 1
)

// last is the second of the last sample.
func (r run) last() uint32 { return r.first + uint32(r.secs) - 1 }

const blockSize = 1 << 10 // runs

// runs is a queue of ended runs, in the order in which they ended. Blocks of forgotten runs are freed.
type runs struct {
	blocks [][]run
	head   int // forgotten runs of the first block
	n      int
}

func (q *runs) push(r run) {
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last]) == blockSize {
		q.blocks = append(q.blocks, make([]run, 0, blockSize))
		last++
	}
	q.blocks[last] = append(q.blocks[last], r)
	q.n++
}

// oldest requires that there is one.
func (q *runs) oldest() run { return q.blocks[0][q.head] }

// pop forgets the oldest.
func (q *runs) pop() run {
	r := q.oldest()
	q.n--
	if q.head++; q.head == len(q.blocks[0]) {
		q.blocks[0] = nil
		q.blocks, q.head = q.blocks[1:], 0
	}
	return r
}

func (q *runs) all() iter.Seq[run] {
	return func(yield func(run) bool) {
		skip := q.head
		for _, block := range q.blocks {
			for _, r := range block[skip:] {
				if !yield(r) {
					return
				}
			}
			skip = 0
		}
	}
}
