package main

const semaphores = "./lock/semaphore"

// semaphoreMutants are bugs in the permits of a semaphore.
func semaphoreMutants() []Mutant {
	return []Mutant{
		{
			Bug: "the ring of slots is not tried to its end", Why: "a free slot is reported as held",
			File:   "lock/semaphore/acquire.go",
			Old:    "\tfor i := range c.sem.slots {\n",
			New:    "\tfor i := range len(c.sem.slots) - 1 {\n",
			Killer: by(semaphores, "TestNeverMoreThanK"),
		},
		{
			Bug: "a call that waits looks at the other slots once only", Why: "it waits while a slot is free",
			File:   "lock/semaphore/wait.go",
			Old:    "\t\t\tdue = time.After(c.sem.untilLook())\n",
			New:    "\t\t\tdue = nil\n",
			Killer: by(semaphores, "TestAnyFreeSlotIsFound"),
		},
		{
			Bug: "a slot is offered to the call that came last", Why: "callers of a process overtake each other",
			File:   "lock/semaphore/line.go",
			Old:    "\tfor _, w := range s.line {\n",
			New:    "\tfor _, w := range slices.Backward(s.line) {\n",
			Killer: by(semaphores, "TestOrderInAProcess"),
		},
		{
			Bug: "a newcomer does not wait behind the calls that do", Why: "as above",
			File:   "lock/semaphore/acquire.go",
			Old:    "\tif first || c.opts.NoWait {\n",
			New:    "\tif first || true {\n",
			Killer: by(semaphores, "TestNewcomersDoNotOvertake"),
		},
		{
			Bug: "a slot that was released here is offered to nobody", Why: "it is free until the next look",
			File:   "lock/semaphore/semaphore.go",
			Old:    "\ts.offer(p.slot)\n",
			New:    "",
			Killer: by(semaphores, "TestOrderInAProcess"),
		},
		{
			Bug: "a slot is tried before its release has been sent", Why: "the try is refused, and the slot free until the next look",
			File:   "lock/semaphore/permit.go",
			Old:    "\terr := p.lease.Release(ctx)\n",
			New:    "\tp.once.Do(func() { p.sem.giveBack(p) })\n\terr := p.lease.Release(ctx)\n",
			Killer: by(semaphores, "TestOfferFollowsTheRelease"),
		},
		{
			Bug: "what the wait got beside the looks is kept", Why: "a permit leaks until its process ends",
			File:   "lock/semaphore/wait.go",
			Old:    "\t\tp.abandon() // the looks have one, too\n",
			New:    "\t\t_ = p // the looks have one, too\n",
			Killer: by(semaphores, "TestBothGetASlot"),
		},
		{
			Bug: "what the looks got beside the wait is kept", Why: "as above",
			File:   "lock/semaphore/wait.go",
			Old:    "\t\t\t\tf.permit.abandon()\n",
			New:    "\t\t\t\t_ = f.permit\n",
			Killer: by(semaphores, "TestBothGetASlot"),
		},
		{
			Bug: "a call that gives up keeps the slot that it was offered", Why: "the slot is free until the next look",
			File:   "lock/semaphore/line.go",
			Old:    "\tcase slot := <-w.offers:\n\t\ts.offer(slot)\n",
			New:    "\tcase <-w.offers:\n",
			Killer: by(semaphores, "TestUnusedOfferGoesOn"),
		},
		{
			Bug: "another number of slots is ignored", Why: "more permits are valid than a caller asked for, and nobody learns of it",
			File:   "lock/semaphore/slotserror.go",
			Old:    "h.Slots == 0 || h.Slots == k {",
			New:    "h.Slots == 0 || h.Slots != 0 {",
			Killer: by(semaphores, "TestOtherNumberOfSlots"),
		},
		{
			Bug: "the holder's record does not have the number of slots", Why: "as above",
			File:   "lock/semaphore/acquire.go",
			Old:    "o.Kind, o.Slots = lock.KindSemaphore, len(c.sem.slots)",
			New:    "o.Kind = lock.KindSemaphore",
			Killer: by(semaphores, "TestOtherNumberOfSlots"),
		},
		{
			Bug: "MaxWait bounds the wait for each slot instead of the whole", Why: "a call takes k times as long",
			File:   "lock/semaphore/acquire.go",
			Old:    "max(c.opts.MaxWait-time.Since(c.began), time.Nanosecond)",
			New:    "max(c.opts.MaxWait, time.Since(c.began))",
			Killer: by(semaphores, "TestMaxWaitBoundsAllSlotsTogether"),
		},
		{
			Bug: "a slot whose permit was lost stays marked as held here", Why: "this process never asks for it again",
			File:   "lock/semaphore/permit.go",
			Old:    "func() { p.sem.drop(p) })",
			New:    "func() {})",
			Killer: by(semaphores, "TestLossIsOneSlot"),
		},
		{
			Bug: "a cycle through a semaphore counts as a deadlock", Why: "calls fail that another slot would have served",
			File:   "lock/engine/caller.go",
			Old:    "len(c.graph.Leases()) == 0",
			New:    "true",
			Killer: by("./lock/engine", "TestNoDeadlockThroughASemaphore"),
		},
	}
}
