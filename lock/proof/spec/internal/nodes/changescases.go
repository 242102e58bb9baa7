package nodes

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// ChangesCases are the explorations of [Changes].
func ChangesCases() explore.Cases {
	return explore.Cases{
		Quick: []explore.Case{
			explore.NewCase("two at once", changes(Changes{Sets: "ABC ABCD ABCE", Acts: "0>1 0>2", Away: 1, Lost: 1})),
			explore.NewCase("the same twice", changes(Changes{Sets: "ABC ABD", Acts: "0>1 0>1", Away: 1, Lost: 1})),
			explore.NewCase("one undone", changes(Changes{Sets: "ABC ADE", Acts: "0>1 1>0", Away: 1})),
			explore.NewCase("sets of an even number", changes(Changes{Sets: "ABCD ABE CD", Acts: "0>1 0>2", Away: 2})),
			explore.NewCase("a node wiped, and a change nobody knew of",
				changes(Changes{Sets: "ABC ADE AB", Acts: "0>1 0>2", Away: 1, Wipes: 1})),
		},
		Slow: []explore.Case{
			explore.NewCase("the first of two changes once more",
				changes(Changes{Sets: "ABC ABD ADE", Acts: "0>1 1>2 0>1", Away: 1}), changedToABD()...),
			explore.NewCase("one undone, and a lost answer",
				changes(Changes{Sets: "ABC ADE", Acts: "0>1 1>0", Away: 1, Lost: 1})),
			explore.NewCase("a node joins late while a change begins",
				changes(Changes{Sets: "ABC ABD ACE", Acts: "0>1 1>1 1>2", Away: 1})),
			explore.NewCase("nodes join late while a change begins",
				changes(Changes{Sets: "ABCDE ABC", Acts: "0>0 0>1", Away: 2, Lost: 1})),
			explore.NewCase("an act undone while another begins",
				changes(Changes{Sets: "ABC ABD ACE", Acts: "0>1 1>0 0>2", Away: 1})),
		},
		Broken: brokenChanges(),
	}
}

func brokenChanges() []explore.Case {
	type R = ChangesRules
	atOnce := Changes{Sets: "ABC ABCD ABCE", Acts: "0>1 0>2", Away: 1}
	off := func(m Changes, rules R) *Changes { m.Rules = rules; return changes(m) }
	return []explore.Case{
		// 40: an old name of what stands there is believed; of two changes at once one is lost.
		explore.NewCase("FromBelieved", off(atOnce, R{FromBelieved: true})),
		// 41: the same, where it is only looked at before the first mark.
		explore.NewCase("MarkWithoutRead", off(atOnce, R{MarkWithoutRead: true})),
		// 46: what another act has only marked is taken for what stands there.
		explore.NewCase("AnyMark", off(Changes{Sets: "ABC ABD ADE", Acts: "0>1 1>2", Away: 1}, R{AnyMark: true})),
		// 42: two halves of an even set know nothing of one another.
		explore.NewCase("HalfIsEnough", off(Changes{Sets: "ABCD ABE CD", Acts: "0>1 0>2", Away: 2}, R{HalfIsEnough: true})),
		// 43: who was wiped does not know of the change before, and who knows is away.
		explore.NewCase("WipedCounts", off(Changes{Sets: "ABC ADE AB", Acts: "0>1 0>2", Away: 1, Wipes: 1},
			R{WipedCounts: true})),
		// 47: what was marked first has been undone by the time the last is marked.
		explore.NewCase("NotConfirmed", off(Changes{Sets: "ABC ABD", Acts: "0>1 1>0", Away: 1}, R{NotConfirmed: true})),
		// 48: who is to be joined has gone on to another configuration since he was asked.
		explore.NewCase("JoinUnconfirmed", off(Changes{Sets: "ABC ABD", Acts: "0>1 1>0", Away: 1}, R{JoinUnconfirmed: true})),
		// 44: what is taken back was somebody else's by then.
		explore.NewCase("TakenBackBlind", off(Changes{Sets: "ABC ABD", Acts: "0>1 0>1", Away: 1, Lost: 1},
			R{TakenBackBlind: true})),
		// 45: a change that was undone meanwhile goes on.
		explore.NewCase("BeginBlind", off(Changes{Sets: "ABC ABD", Acts: "0>1 1>0", Away: 1}, R{BeginBlind: true})),
	}
}

// changes is the model with its bounds read.
func changes(m Changes) *Changes { return m.parse() }

// changedToABD is the first change from ABC, which has not told C yet that it has left.
func changedToABD() (steps []string) {
	for _, does := range []string{"asks node %c", "marks node %c", "looks at node %c once more"} {
		for _, node := range "ABCD" {
			steps = append(steps, fmt.Sprintf("change 1 "+does, node))
		}
	}
	for _, node := range "ABD" {
		steps = append(steps,
			fmt.Sprintf("change 1 lets node %c begin its quarantine, or go, if nothing has happened to it", node))
	}
	return steps
}
