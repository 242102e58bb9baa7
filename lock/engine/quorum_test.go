package engine

import "testing"

func TestTallyDecidesBothWaysForAnyNumberOfNodes(t *testing.T) {
	for nodes := 1; nodes <= 9; nodes++ {
		q := quorumOf(nodes)
		if 2*q <= nodes {
			t.Errorf("%d nodes: two quorums of %d need not intersect", nodes, q)
		}
		for granted := 0; granted <= nodes; granted++ {
			for refused := 0; granted+refused <= nodes; refused++ {
				for failed := 0; granted+refused+failed <= nodes; failed++ {
					v := tally{nodes: nodes, granted: granted, refused: refused, failed: failed}
					missing := nodes - granted - refused - failed
					if v.won() != (granted >= q) {
						t.Errorf("%+v: won = %v", v, v.won())
					}
					if reachable := granted+missing >= q; v.lost() == reachable {
						t.Errorf("%+v: lost = %v with %d votes missing", v, v.lost(), missing)
					}
					if missing == 0 && !v.decided() {
						t.Errorf("%+v: all have voted and nothing is decided", v)
					}
					if v.held() && !v.lost() {
						t.Errorf("%+v: held but not lost", v)
					}
				}
			}
		}
	}
}
