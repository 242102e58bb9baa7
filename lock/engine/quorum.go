package engine

// quorumOf is the smallest number of nodes any two of which sets intersect.
func quorumOf(nodes int) int { return nodes/2 + 1 }

// tally counts the votes of one round. Every node votes once: it grants, it
// refuses, or it fails to say either.
type tally struct {
	nodes   int
	granted int
	refused int
	failed  int
}

// won reports that a quorum granted, whatever the others say.
func (t tally) won() bool { return t.granted >= quorumOf(t.nodes) }

// lost reports that no quorum can be reached any more.
func (t tally) lost() bool { return t.refused+t.failed > t.nodes-quorumOf(t.nodes) }

// held reports that the refusals alone rule out a quorum.
func (t tally) held() bool { return t.refused > t.nodes-quorumOf(t.nodes) }

// decided reports that the votes still missing cannot change the outcome.
func (t tally) decided() bool { return t.won() || t.lost() }
