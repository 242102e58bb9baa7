package lanes

import (
	"slices"
	"time"
)

// putIdle expects the mutex to be held.
func (p *Lanes) putIdle(l *lane) {
	if l.conn != nil {
		p.idle = append(p.idle, l)
	} else {
		p.idle = slices.Insert(p.idle, 0, l)
	}
}

// slow reports that another lane is of use: none that is busy can be expected to be done
// soon, or one can, and enough has gathered for the server to work on while the answers of
// that one are dealt with. It expects the mutex to be held.
func (p *Lanes) slow() bool {
	now, busy, soon := time.Now(), 0, 0
	for _, l := range p.all {
		if slices.Contains(p.idle, l) {
			continue
		}
		busy++
		if now.Sub(l.began) < l.usual() {
			soon++
		}
	}
	return soon == 0 || busy == 1 && len(p.waiting) >= overlap
}

func (l *lane) isJoined() bool { return l.joined }

// usual is how long what the lane does may take before another is used. It expects the
// mutex to be held.
func (l *lane) usual() time.Duration {
	if !l.joined {
		return connecting
	}
	return nearby + time.Duration(len(l.flight))*perCommand
}

// rouse makes an idle lane take what is waiting, or a new one, and reports whether it did.
// It expects the mutex to be held.
func (p *Lanes) rouse() bool {
	switch {
	case !p.slow():
		return false
	case p.wake():
		return true
	case len(p.all) == maxLanes:
		return false
	}
	l := &lane{lanes: p, wake: make(chan struct{}, 1), began: time.Now()}
	p.all = append(p.all, l)
	p.running.Go(l.run)
	return true
}

// wake makes an idle lane go on. It expects the mutex to be held.
func (p *Lanes) wake() bool {
	n := len(p.idle)
	if n == 0 {
		return false
	}
	l := p.idle[n-1]
	p.idle = p.idle[:n-1]
	l.began = time.Now()
	l.wake <- struct{}{} // it has room for one, and is told once for being idle
	return true
}

// await returns once something is waiting, false if the lanes are closed.
func (p *Lanes) await(l *lane) bool {
	p.mu.Lock()
	if p.closed || len(p.waiting) > 0 && !l.spared {
		defer p.mu.Unlock()
		return !p.closed
	}
	l.spared = false
	p.putIdle(l)
	p.mu.Unlock()
	_, ok := <-l.wake
	return ok
}

// join says whether the lane has a connection.
func (p *Lanes) join(l *lane, joined bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.joined = joined
	if joined {
		p.dialled++
	}
}

// reconnectPause is how long a dial that failed speaks for the next.
const reconnectPause = time.Millisecond

// mayDial is why a lane had better not dial right now; nil if it may.
func (p *Lanes) mayDial() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.failed) < reconnectPause {
		return p.failure
	}
	return nil
}

// inVain says that a lane could not connect. If no other is connected, what is waiting is
// refused.
func (p *Lanes) inVain(l *lane, why error, dialled bool) {
	p.mu.Lock()
	if dialled {
		p.failed, p.failure = time.Now(), why
		p.dialled++
		p.dialFailures++
	}
	var refused []*Command
	switch {
	case len(p.waiting) == 0:
	case !slices.ContainsFunc(p.all, (*lane).isJoined):
		refused, p.waiting = p.waiting, nil
	default:
		l.spared = true
		p.wake()
	}
	p.mu.Unlock()
	for _, c := range refused {
		c.refuse(why)
	}
}
