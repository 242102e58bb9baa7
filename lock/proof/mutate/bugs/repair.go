package bugs

const scanning = "./scanner"

// repairMutants are bugs in what keeps a repair away from locks that live.
func repairMutants() []Mutant {
	const kept, retaken = "scanner/internal/apply/kept.go", "TestPlanOfAValueTakenAnew"
	return []Mutant{
		{
			Bug: "a plan does not watch keys whose value may be reused", Why: "a lease taken during the plan is deleted",
			File: kept, Old: "_, err = transact(", New: "_, _ = transact(",
			Killer: by(scanning, "TestPlanWatchesValuesThatMayBeReused"),
		},
		{
			Bug: "a plan does not wait until a use is younger than its look", Why: "no such key is ever repaired",
			File: kept, Old: "case idle >= unusedFor:", New: "case idle >= 0:",
			Killer: by(scanning, retaken),
		},
		{
			Bug: "an unchanged expiry proves one lease", Why: "locks that end at midnight are deleted while held",
			File: kept, Old: "\tcase err != nil:\n\t\treturn \"\", ttl, err\n\tcase !before(",
			New:    "\tcase f.TTL >= 0:\n\t\treturn inspect.Done, ttl, nil\n\tcase err != nil:\n\t\treturn \"\", ttl, err\n\tcase !before(",
			Killer: by(scanning, retaken),
		},
		{
			Bug: "a long random text is one lease's token", Why: "it is a container's id, in each of its leases",
			File: "scanner/internal/holders/distinction.go", Old: "return !redsyncToken.MatchString(v.Head) &&",
			New:    "return DistinctionOf(v, &h) != PerLease &&",
			Killer: by(scanning, retaken),
		},
		{
			Bug: "a repair deletes the lease of a holder that renews it", Why: "two hold the lock until the next renewal",
			File: "scanner/internal/apply/apply.go", Old: "f.TTL >= 0 && f.Class == inspect.HeldTooLong:",
			New:    "f.TTL >= 0 && f.Class == \"\":",
			Killer: by(scanning, "TestRepairLeavesLeasesOfLockscope"),
		},
	}
}
