package lanes

import "time"

const (
	// maxLanes is the maximum number of connections of a node. More connections mean more
	// system calls for the same work, as commands gather while a lane is busy. Another lane
	// is used if a reply takes longer than that of a server nearby, or if many commands wait.
	maxLanes = 4
	overlap  = 16
	// extraPause is how long a node that has a connection does without another one after a dial failed. A server that
	// takes no more connections is slow already.
	extraPause = time.Second
)

// rouse makes an idle lane take what is waiting, or a new one, and reports whether it did.
// It expects the mutex to be held.
func (p *pool) rouse() bool {
	switch {
	case !p.slow():
		return false
	case p.wake():
		return true
	case len(p.all) == maxLanes, !p.mayDial():
		return false
	}
	l := &lane{wake: make(chan struct{}, 1), began: time.Now()}
	p.all = append(p.all, l)
	p.start(l)
	return true
}

// slow reports whether another lane helps. It does if no busy lane will be done soon. It also does if
// one will, but so much has gathered that the server can work on it while that lane's answers are
// handled. It expects the mutex to be held.
func (p *pool) slow() bool {
	now, busy, soon := time.Now(), 0, 0
	for _, l := range p.all {
		if p.idle.contains(l) {
			continue
		}
		busy++
		if now.Sub(l.began) < l.usual() {
			soon++
		}
	}
	return soon == 0 || busy == 1 && len(p.waiting) >= overlap
}

// mayDial reports whether a lane without a connection may make one now: one at a time. It expects the mutex to be held.
func (p *pool) mayDial() bool {
	dialling, connected := false, false
	for _, l := range p.all {
		connected = connected || l.connected
		dialling = dialling || !l.connected && !p.idle.contains(l)
	}
	return !dialling && !(connected && time.Since(p.dials.failedAt) < extraPause)
}

// wake makes an idle lane go on. It expects the mutex to be held.
func (p *pool) wake() bool {
	if l := p.idle.last(); l == nil || !l.connected && !p.mayDial() {
		return false
	}
	l := p.takeIdle()
	l.began = time.Now()
	l.wake <- struct{}{} // it has room for one, and gets one for being idle
	return true
}
