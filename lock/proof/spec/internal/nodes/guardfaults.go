package nodes

import (
	"strings"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// String names what is in the set.
func (f Fault) String() string {
	var names []string
	for i, name := range [...]string{"flush", "restart", "restart empty", "restart old", "copied", "clock set",
		"own past"} {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "/")
}

// faultSteps are what may happen to node j.
func (m *Guard) faultSteps(s guardState, j int, each func(explore.Step, guardState)) {
	if int(s.faults) >= m.Faults {
		return
	}
	n := s.nodes[j]
	if m.Allowed&(RestartOld|OwnPast) != 0 && n.marker.state == voting && n.saved == (data{}) {
		to := s
		to.nodes[j].saved = n.data
		each(explore.Step{Text: "a snapshot is made of {n}", Node: j}, to)
	}
	s.faults++
	happens := func(what Fault, text string, change func(*guardNode)) {
		if m.Allowed&what != 0 {
			to := s
			change(&to.nodes[j])
			each(explore.Step{Text: text, Node: j}, to)
		}
	}
	happens(Flush, "{n} is flushed", func(n *guardNode) { n.replace(data{}) })
	if m.Allowed&OwnPast != 0 && n.saved.marker.state != noMarker {
		happens(OwnPast, "{n} gets its own data of before back, and is the same process",
			func(n *guardNode) { n.replace(n.saved) })
	}
	m.restarts(n, happens)
	happens(ClockSet, "the clock of {n} is put forward", func(n *guardNode) {
		if n.marker.counted {
			n.marker.byNode = uint8(m.TTL)
			if n.marker.capped {
				n.marker.byCallers = uint8(m.TTL)
			}
		}
		n.slow = false
	})
	if m.Allowed&Copied != 0 {
		for k, other := range s.nodes {
			if k != j {
				to := s
				copied := other.data
				copied.marker.process = foreign
				to.nodes[j].replace(copied)
				each(explore.Step{Text: "{n} follows {m}, and is promoted", Node: j, From: k}, to)
			}
		}
	}
}

// replace gives the node other data: it has forgotten its own.
func (n *guardNode) replace(d data) { n.data, n.intact = d, false }

// restarts are those of n. Where clocks may be wrong, it may boot with a slow one.
func (m *Guard) restarts(n guardNode, happens func(Fault, string, func(*guardNode))) {
	clocks := []bool{false}
	if m.Allowed&ClockSet != 0 {
		clocks = append(clocks, true)
	}
	for _, slow := range clocks {
		how := ""
		if slow {
			how = ", and its clock is slow"
		}
		again := func(n *guardNode) { n.generation, n.slow = n.generation+1, slow }
		happens(Restart, "{n} restarts with its data"+how, again)
		happens(RestartEmpty, "{n} restarts empty"+how, func(n *guardNode) {
			again(n)
			n.replace(data{})
		})
		if n.saved.marker.state != noMarker {
			happens(RestartOld, "{n} restarts with the data of a snapshot"+how, func(n *guardNode) {
				again(n)
				n.replace(n.saved)
			})
		}
	}
}
