package bugs

// slotQueueMutants are bugs in the one queue for all slots of a semaphore, and in what a permit counts as.
func slotQueueMutants() []Mutant {
	return []Mutant{
		{
			Bug: "each look at a slot counts as an acquisition", Why: "a call that finds five slots held is contended five times",
			File:   "instrument/internal/metrics/call.go",
			Old:    "\tif !f.Part {\n",
			New:    "\tif f.Part || !f.Part {\n",
			Killer: by("./instrument", "TestPermitIsOneAcquisition"),
		},
		{
			Bug: "looks beside a wait do not know the caller", Why: "a permit has no call site in blame and on pages",
			File:   "lock/semaphore/acquire.go",
			Old:    " Since: c.began, CallSite: c.callSite,\n",
			New:    " Since: c.began,\n",
			Killer: by(semaphores, "TestCallSiteOfAPermit"),
		},
		{
			Bug: "a release does not name the semaphore of its slot", Why: "it names nobody, and each hand-off takes a poll",
			File:   "lock/engine/internal/lease/release.go",
			Old:    "Mode: a.Req.Mode, Semaphore: a.Semaphore,\n",
			New:    "Mode: a.Req.Mode,\n",
			Killer: by(semaphores, "TestQueueIsFirstComeFirstServed"),
		},
		{
			Bug: "in memory, the gate does not say that a slot is kept for the caller", Why: "if a message is lost, the slot is kept for nobody",
			File:   "lock/internal/memstate/slots.go",
			Old:    "reserved && kept.waiter != caller {",
			New:    "reserved {",
			Killer: by("./lock/locktest", "TestFakeMatchesSlotQueueScripts"),
		},
		{
			Bug: "in memory, a waiter that leaves does not pass on the slots that are kept for it", Why: "they are free until the next poll",
			File:   "lock/internal/memstate/slots.go",
			Old:    "\t\tif !s.taken(key) {\n",
			New:    "\t\tif false {\n",
			Killer: by("./lock/locktest", "TestFakeMatchesSlotQueueScripts"),
		},
	}
}
