package ballot

import "testing"

func TestTallyDecidesBothWaysForAnyNumberOfNodes(t *testing.T) {
	for nodes := 1; nodes <= 9; nodes++ {
		q := Quorum(nodes)
		if 2*q <= nodes {
			t.Errorf("%d nodes: two quorums of %d need not intersect", nodes, q)
		}
		for granted := 0; granted <= nodes; granted++ {
			for refused := 0; granted+refused <= nodes; refused++ {
				for failed := 0; granted+refused+failed <= nodes; failed++ {
					v := Tally{Nodes: nodes, Granted: granted, Refused: refused, Failed: failed}
					missing := nodes - granted - refused - failed
					if v.Won() != (granted >= q) {
						t.Errorf("%+v: won = %v", v, v.Won())
					}
					if reachable := granted+missing >= q; v.Lost() == reachable {
						t.Errorf("%+v: lost = %v with %d votes missing", v, v.Lost(), missing)
					}
					if missing == 0 && !v.Won() && !v.Lost() {
						t.Errorf("%+v: all have voted and nothing is decided", v)
					}
					if v.Held() && !v.Lost() {
						t.Errorf("%+v: held but not lost", v)
					}
				}
			}
		}
	}
}
