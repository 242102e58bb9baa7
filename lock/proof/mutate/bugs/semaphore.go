package bugs

const semaphores = "./lock/semaphore"

// semaphoreMutants are bugs in the permits of a semaphore.
func semaphoreMutants() []Mutant {
	return []Mutant{
		{
			Bug: "the ring of slots is not tried to its end", Why: "a free slot is reported as held",
			File:   "lock/engine/internal/contest/sweep.go",
			Old:    "\tfor i := range c.group.size {\n",
			New:    "\tfor i := range c.group.size - 1 {\n",
			Killer: by(semaphores, "TestNeverMoreThanK"),
		},
		{
			Bug: "a call that waits for a slot never asks for the others", Why: "it waits while a slot is free",
			File:   "lock/engine/internal/contest/members.go",
			Old:    "\tcase c.group.size > 1:\n",
			New:    "\tcase c.group.size > 1000:\n",
			Killer: by(semaphores, "TestAnyFreeSlotIsFound"),
		},
		{
			Bug: "a newcomer does not wait behind the calls that do", Why: "callers of a process overtake each other",
			File:   "lock/engine/internal/contest/contest.go",
			Old:    "c.group.any && !c.line.Contends() {\n",
			New:    "c.group.any {\n",
			Killer: by(semaphores, "TestNewcomersDoNotOvertake"),
		},
		{
			Bug: "a slot that was released here is offered to nobody", Why: "it is free until the next poll, where the nodes have no queue for all slots",
			File:   "lock/engine/internal/queue/slots.go",
			Old:    "\t\t\tl.signal(WakeUp{Slot: of.Slot + 1})\n",
			New:    "",
			Killer: by(semaphores, "TestOrderInAProcess"),
		},
		{
			Bug: "another number of slots is ignored", Why: "more permits are valid than a caller asked for, and nobody learns of it",
			File:   "lock/engine/internal/contest/members.go",
			Old:    "held.Holder.Slots == c.group.of.Slots {",
			New:    "held.Holder.Slots != 0 {",
			Killer: by(semaphores, "TestOtherNumberOfSlots"),
		},
		{
			Bug: "the holder's record does not have the number of slots", Why: "as above",
			File:   "lock/engine/internal/contest/contest.go",
			Old:    "c.req.Origin.Kind, c.req.Origin.Slots, c.req.Origin.Reason = opts.Kind, opts.Slots, opts.HoldReason",
			New:    "c.req.Origin.Kind, c.req.Origin.Reason = opts.Kind, opts.HoldReason",
			Killer: by(semaphores, "TestOtherNumberOfSlots"),
		},
		{
			Bug: "a call whose time is up asks for the other slots", Why: "it takes k times as long as MaxWait says",
			File:   "lock/engine/internal/contest/members.go",
			Old:    "[*lock.WaitError](err); cut {",
			New:    "[*lock.WaitError](err); cut && false {",
			Killer: by(semaphores, "TestMaxWaitBoundsAllSlotsTogether"),
		},
		{
			Bug: "a cycle through a semaphore counts as a deadlock", Why: "calls fail that another slot would have served",
			File:   "lock/engine/internal/contest/members.go",
			Old:    "if len(c.graph.Leases()) == 0 ||",
			New:    "if true ||",
			Killer: by("./lock/engine", "TestNoDeadlockThroughASemaphore"),
		},
		{
			Bug: "a node that knows k grants to a caller with another", Why: "more permits are valid than there are slots",
			File:   "lock/redlock/internal/scripts/slots.lua",
			Old:    "  if known[1] and known[1] ~= slots then\n",
			New:    "  if known[1] and tonumber(slots) < 1 then\n",
			Killer: by(scripting, "TestScriptsCompareSlots"),
		},
		{
			Bug: "a node that may not vote takes k", Why: "it forgot the number, and takes an old one",
			File:   "lock/redlock/internal/scripts/slots.lua",
			Old:    "if not refuses(known[2], ARGV[#ARGV]) then\n",
			New:    "if true then\n",
			Killer: by(scripting, "TestScriptsCompareSlots"),
		},
		{
			Bug: "an extend does not compare the slot with k", Why: "a permit of a slot that is gone is renewed for ever",
			File:   "lock/redlock/internal/scripts/slot.lua",
			Old:    "slot >= (tonumber(known[1]) or 0)",
			New:    "slot < 0",
			Killer: by(scripting, "TestScriptsExtendNoSlotThatIsGone"),
		},
		{
			Bug: "renewals do not keep a node from forgetting k", Why: "another k is taken beside a permit that is valid",
			File:   "lock/redlock/internal/scripts/slot.lua",
			Old:    "known[1] and redis.call('PTTL', slots_key) < keep / 2",
			New:    "false",
			Killer: by(scripting, "TestScriptsKeepSlots"),
		},
		{
			Bug: "a smaller k is reported before the permits of the larger have ended", Why: "more permits are valid than k",
			File:   "lock/engine/resize.go",
			Old:    "\tif to < from {\n",
			New:    "\tif to < 0 {\n",
			Killer: by(semaphores, "TestShrink"),
		},
		{
			Bug: "a change of k does without a node", Why: "one more node that forgets k is a majority for the old one",
			File:   "lock/engine/resize.go",
			Old:    "n.Err != nil || !right(n.Slots)",
			New:    "n.Err == nil && !right(n.Slots)",
			Killer: by(semaphores, "TestResizeNeedsEveryNode"),
		},
		{
			Bug: "a call whose k a majority refuses waits", Why: "it waits until its context ends, and nobody learns why",
			File:   "lock/engine/internal/ballot/ballot.go",
			Old:    "		if b.hasOtherSlots() {\n",
			New:    "		if false {\n",
			Killer: by(semaphores, "TestNodesKnowTheNumberOfSlots"),
		},
	}
}
