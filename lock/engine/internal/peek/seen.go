package peek

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// Seen is what one node of a quorum has of a holder.
type Seen struct {
	Reply driver.PeekReply
	At    time.Time // of the answer
}

// Describe describes the holder that a quorum of so many nodes names.
func Describe(same []Seen, quorum, nodes int) lock.Sighting {
	p := answers{quorum: quorum, nodes: make([]answer, nodes)}
	for i, s := range same {
		p.nodes[i] = answer{answered: true, reply: s.Reply, at: s.At}
	}
	return p.held(p.nodes[:len(same)])
}
