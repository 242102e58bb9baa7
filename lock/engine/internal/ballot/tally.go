package ballot

// Quorum returns the quorum of n nodes: the smallest size at which any two sets of nodes intersect.
func Quorum(nodes int) int { return nodes/2 + 1 }

// Tally counts the votes of one round. Every node votes once: it grants, it
// refuses, or it fails to say either.
type Tally struct {
	Nodes   int
	Granted int
	Refused int
	Failed  int
}

// Won reports that a quorum granted, whatever the others say.
func (t Tally) Won() bool { return t.Granted >= Quorum(t.Nodes) }

// Lost reports that no quorum can be reached any more.
func (t Tally) Lost() bool { return t.Refused+t.Failed > t.Nodes-Quorum(t.Nodes) }

// Held reports that the refusals alone rule out a quorum.
func (t Tally) Held() bool { return t.Refused > t.Nodes-Quorum(t.Nodes) }
