package traceevent

import (
	"strconv"
	"time"
)

// Trace gathers events. Its zero value is empty. It is not safe for concurrent use.
type Trace struct {
	events  []event // without metadata
	meta    []event
	pids    int
	tids    int
	flows   int
	earlier time.Duration // the first start; see Write
	began   bool
}

// Process is a group of threads.
type Process struct {
	trace *Trace
	pid   int
}

// Thread is one row of slices, or several if they nest.
type Thread struct {
	trace    *Trace
	pid, tid int
}

// Process adds a process. Viewers list processes in the order in which they were added. label stands beside the name.
func (t *Trace) Process(name, label string) *Process {
	t.pids++
	p := &Process{t, t.pids}
	p.describe("process_name", 0, Args{"name": name})
	if label != "" {
		p.describe("process_labels", 0, Args{"labels": label})
	}
	p.describe("process_sort_index", 0, Args{"sort_index": t.pids})
	return p
}

// Thread adds a thread. Viewers list threads by order, and threads of the same order as they were added. Thread ids are
// unique in a Trace, since some viewers do not look at the process.
func (p *Process) Thread(name string, order int) *Thread {
	p.trace.tids++
	tid := p.trace.tids
	p.describe("thread_name", tid, Args{"name": name})
	p.describe("thread_sort_index", tid, Args{"sort_index": order})
	return &Thread{p.trace, p.pid, tid}
}

func (p *Process) describe(what string, tid int, args Args) {
	p.trace.meta = append(p.trace.meta, event{Name: what, Phase: phaseMetadata, Pid: p.pid, Tid: tid, Args: args})
}

// Slice adds a slice. Slices of a thread must nest: [Lanes] finds threads for those that overlap.
func (th *Thread) Slice(s Slice) {
	took := micros(max(s.End-s.Start, 0))
	th.add(event{Name: s.Name, Cat: s.Cat, Phase: phaseComplete, At: micros(s.Start), Took: &took, Color: s.Color,
		Args: s.Args})
}

// Instant adds an instant that is drawn across the thread.
func (th *Thread) Instant(i Instant) {
	th.add(event{Name: i.Name, Cat: i.Cat, Phase: phaseInstant, At: micros(i.At), Scope: "t", Args: i.Args})
}

func (th *Thread) add(e event) {
	e.Pid, e.Tid = th.pid, th.tid
	if at := time.Duration(e.At); !th.trace.began || at < th.trace.earlier {
		th.trace.began, th.trace.earlier = true, at
	}
	th.trace.events = append(th.trace.events, e)
}

// Point is a moment inside a slice of a thread.
type Point struct {
	*Thread
	At time.Duration
}

// Flow adds an arrow through these points, at least two, in the order of time. Each binds to the innermost slice around
// it.
func (t *Trace) Flow(name, cat string, args Args, points ...Point) {
	t.flows++
	for i, p := range points {
		e := event{Name: name, Cat: cat, Phase: phaseFlowStep, At: micros(p.At), ID: strconv.Itoa(t.flows), Bind: "e"}
		switch i {
		case 0:
			e.Phase, e.Args = phaseFlowStart, args
		case len(points) - 1:
			e.Phase = phaseFlowEnd
		}
		p.add(e)
	}
}
