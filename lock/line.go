package lock

import "sync"

// line keeps the calls about one resource on one node in order: a release never
// overtakes the acquire it undoes, nor an acquire the release before it.
type line struct {
	idle func() // told each time the line runs empty

	mu    sync.Mutex
	busy  bool
	queue []func()
}

// do runs call now, or after the calls already under way. A closed group drops it.
func (l *line) do(g *group, call func()) {
	l.mu.Lock()
	if l.busy {
		l.queue = append(l.queue, call)
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	if !g.run(func() { l.work(call) }) {
		l.mu.Lock()
		l.busy = false
		l.mu.Unlock()
	}
}

// doHere is do on the caller's goroutine, if the line is free.
func (l *line) doHere(g *group, call func()) {
	l.mu.Lock()
	free := !l.busy
	if free {
		l.busy = true
	}
	l.mu.Unlock()
	if !free {
		l.do(g, call)
		return
	}
	defer l.goOn(g) // whatever a hook of the caller's client does: others wait behind it
	call()
}

// goOn leaves what has queued up meanwhile to the group.
func (l *line) goOn(g *group) {
	l.mu.Lock()
	if len(l.queue) == 0 {
		l.busy = false
		l.mu.Unlock()
		l.idle()
		return
	}
	call := l.queue[0]
	l.queue = l.queue[1:]
	l.mu.Unlock()
	if !g.run(func() { l.work(call) }) {
		l.mu.Lock()
		l.busy, l.queue = false, nil
		l.mu.Unlock()
	}
}

func (l *line) work(call func()) {
	for call != nil {
		call()
		l.mu.Lock()
		call = nil
		if len(l.queue) > 0 {
			call, l.queue = l.queue[0], l.queue[1:]
		} else {
			l.busy = false
		}
		l.mu.Unlock()
	}
	l.idle()
}

func (l *line) isBusy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy
}
