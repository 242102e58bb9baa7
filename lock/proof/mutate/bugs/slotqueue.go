package bugs

// slotQueueMutants are bugs in the one queue for all slots of a semaphore.
func slotQueueMutants() []Mutant {
	return []Mutant{
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
