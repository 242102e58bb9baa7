package simulation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktest"
)

// nodeFaults plays one node's timeline.
func (h *history) nodeFaults(i int) {
	s := h.servers[i]
	for _, f := range h.plan.nodes[i] {
		time.Sleep(f.after)
		switch f.kind {
		case pauses:
			s.Pause()
			time.Sleep(f.lasts)
			s.Resume()
			continue
		case crashes:
			s.Crash()
			time.Sleep(f.lasts)
			s.Restart()
		case wiped:
			s.Crash()
			time.Sleep(f.lasts)
			h.disinter(i)
			s.RestartEmpty(0)
		case stale:
			s.Snapshot()
			time.Sleep(f.lasts)
			s.Crash()
			h.disinter(i)
			s.RestartStale()
		case rebooted:
			s.Crash()
			time.Sleep(f.lasts)
			h.disinter(i)
			s.RestartEmpty(0)
			s.StepClock(time.Hour)
		case setRight:
			s.Crash()
			h.disinter(i)
			s.RestartEmpty(0)
			s.StepClock(-time.Hour)
			time.Sleep(f.lasts)
			s.StepClock(time.Hour)
		case replicates:
			s.Follow(h.servers[(i+1)%len(h.servers)])
			time.Sleep(f.lasts)
			s.Crash()
			h.disinter(i)
			s.RestartEmpty(0)
		case flushed:
			h.disinter(i)
			s.Flush()
		case borrowed:
			s.Follow(h.servers[(i+1)%len(h.servers)])
			time.Sleep(f.lasts)
			h.disinter(i)
			s.Promote()
		}
		h.mu.Lock()
		h.restarted = h.now()
		h.mu.Unlock()
	}
}

// linkFaults plays the timeline of one client's link to one node.
func (h *history) linkFaults(c, node int) {
	base := h.clients[c].faults[node]
	for _, f := range h.plan.clients[c].breaks[node] {
		time.Sleep(f.after)
		h.log("    link of c%d to n%d: %v for %v", c, node, f.kind, f.lasts)
		worse := base
		switch f.kind {
		case cutOff:
			worse.LoseRequest = 1
		case repliesLost:
			worse.LoseReply = 1
		case slow:
			worse.RequestDelay = locktest.Between(simNodeTimeout/2, 2*simNodeTimeout)
		}
		h.setFaults(h.clients[c], node, worse)
		time.Sleep(f.lasts)
		h.setFaults(h.clients[c], node, base)
	}
}

// setFaults sets the faults of a client's link, unless the client is dead: then nothing arrives.
func (h *history) setFaults(c *client, node int, f locktest.Faults) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.dead {
		f.LoseRequest, f.LoseWake = 1, 1
	}
	c.links[node].SetFaults(f)
}

// heal ends all faults, and waits until requests under way and every quarantine have ended.
func (h *history) heal() {
	h.log("all faults end")
	calm := (&plan{calm: true}).linkFaults(nil)
	for _, c := range h.clients {
		for node := range c.links {
			h.setFaults(c, node, calm)
		}
	}
	h.mu.Lock()
	restarted := h.restarted
	h.mu.Unlock()
	switch {
	case restarted == 0 && h.plan.vouches == nil && h.plan.change == nil:
		return // every node voted all the time
	case h.plant.quarantine < 0:
		return // no node has to stay silent
	}
	h.joinLate()
	// The first request begins a quarantine, and a later one ends it.
	for range 10 {
		for _, i := range h.alive() {
			for _, link := range h.clients[i].links {
				_ = link.Ask(context.Background())
			}
		}
		if h.allVote() {
			// A finding against a node is trusted for a second, also by a client that asked just before another one
			// ended the quarantine.
			time.Sleep(max(restarted+2*time.Second-h.now(), 2*time.Second))
			return
		}
		time.Sleep(simQuarantine + 50*time.Millisecond) // by a slow clock of a node
	}
}

func (h *history) allVote() bool {
	for _, s := range h.servers[:h.plan.members(0)] {
		// A server that was a replica has the marker of its master: it names another process, and lets nobody vote.
		if !strings.HasPrefix(s.Marker(), fmt.Sprintf("voting|%s|%s|", h.plan.fingerprint(), s.RunID())) {
			return false
		}
	}
	return true
}

// recorder is a client's node that records the tokens sent to it.
type recorder struct {
	driver.BlockingNode
	h      *history
	client int
	node   int
}

// Capabilities implements driver.BlockingNode.
func (n *recorder) Capabilities() driver.Capabilities {
	c := n.BlockingNode.Capabilities()
	c.SlotQueue = c.SlotQueue && !n.h.plan.queueEach()
	return c
}

func (n *recorder) Subscribe(ctx context.Context, waiterID string, wake func(lockKey string)) error {
	n.h.names.Lock()
	n.h.processes[waiterID] = n.client
	n.h.names.Unlock()
	return n.BlockingNode.Subscribe(ctx, waiterID, wake)
}

func (n *recorder) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	holder, _ := records.ParseHolder(req.Holder)
	log := n.h.acquireLog(holder.Traceparent)
	n.h.mu.Lock()
	if log.token != req.Token {
		if log.token != "" {
			log.earlier = append(log.earlier, log.token)
		}
		log.token, log.since, log.refusals = req.Token, holder.Since, nil
	}
	undone := true
	for _, token := range log.earlier {
		undone = undone && n.h.buried[grave{n.node, token}]
	}
	n.h.mu.Unlock()
	reply, err := n.BlockingNode.Acquire(ctx, req)
	if err == nil && req.Waiter.Enqueue && (reply.Granted || reply.Ticket > 0) {
		n.h.answered(holder.Traceparent, reply.Granted)
	}
	if err == nil && !reply.Granted {
		n.h.mu.Lock()
		if log.token == req.Token {
			by, _ := records.ParseHolder(reply.Holder)
			log.refusals = append(log.refusals, refusal{own: by.Traceparent == holder.Traceparent, undone: undone})
		}
		n.h.mu.Unlock()
	}
	return reply, err
}

func (n *recorder) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	reply, err := n.BlockingNode.Release(ctx, req)
	if err == nil {
		n.h.mu.Lock()
		n.h.buried[grave{n.node, req.Token}] = true
		n.h.mu.Unlock()
	}
	return reply, err
}

// acquireLog returns the log of the Acquire with this id.
func (h *history) acquireLog(id string) *acquireLog {
	h.mu.Lock()
	defer h.mu.Unlock()
	log, ok := h.logs[id]
	if !ok {
		log = new(acquireLog)
		h.logs[id] = log
	}
	return log
}

// disinter drops a node's graves: it is about to forget its tombstones.
func (h *history) disinter(node int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for g := range h.buried {
		if g.node == node {
			delete(h.buried, g)
		}
	}
}
