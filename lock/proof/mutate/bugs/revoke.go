package bugs

// revokeMutants are bugs in the way an operator ends a lease.
func revokeMutants() []Mutant {
	return []Mutant{
		{
			Bug: "extend.lua: a revoked lease is renewed", Why: "an operator waits for a lock that is never free",
			File:   "lock/redlock/internal/scripts/extend.lua",
			Old:    "if mark and mark ~= '' then",
			New:    "if false then",
			Killer: by("./lock/redlock/internal/scripts", "TestScriptsRevoke"),
		},
		{
			Bug: "in memory, a revoked lease is renewed", Why: "the simulation sees other revokes than Redis carries out",
			File:   "lock/internal/memstate/revoke.go",
			Old:    `mark != ""`,
			New:    `false && mark != ""`,
			Killer: by(fakes, "TestFakeMatchesRevokeScripts"),
		},
		{
			Bug: "a revoked lease is given back at once", Why: "its work has no time to stop before the next caller's begins",
			File:   "lock/engine/internal/lease/renew.go",
			Old:    "\t\tl.stop(round.revoked)\n",
			New:    "\t\tl.Lose()\n",
			Killer: by(memory, "TestRevoke"),
		},
		{
			Bug: "the promised time is that of the node that is free first", Why: "an operator acts too early",
			File:   "lock/engine/internal/revoke/answers.go",
			Old:    "free[a.quorum-1]",
			New:    "free[0]",
			Killer: by(memory, "TestRevoke"),
		},
		{
			Bug: "a lease is revoked although its revoke was not confirmed", Why: "nothing on disk says who did it",
			File:   "lock/engine/internal/revoke/revoke.go",
			Old:    "if err := req.Confirm(seen); err != nil {",
			New:    "if err := req.Confirm(seen); false && err != nil {",
			Killer: by(memory, "TestRevokeIsRefused"),
		},
	}
}
