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
			File:   "lock/engine/revokeanswers.go",
			Old:    "each[a.quorum-1]",
			New:    "each[0]",
			Killer: by(memory, "TestRevoke"),
		},
		{
			Bug: "a lease is revoked although its revoke was not confirmed", Why: "nothing on disk says who did it",
			File:   "lock/engine/revoke.go",
			Old:    "if err := r.Confirm(holders); err != nil {",
			New:    "if err := r.Confirm(holders); false && err != nil {",
			Killer: by(memory, "TestRevokeIsRefused"),
		},
	}
}

// revokeReadersMutants are bugs in the way an operator ends the leases of readers.
func revokeReadersMutants() []Mutant {
	const room = "./lock/engine"
	return []Mutant{
		{
			Bug: "rwextend.lua: a revoked reader is renewed, or put back", Why: "a writer waits for it for ever",
			File:   "lock/redlock/internal/scripts/rwextend.lua",
			Old:    "if mark and mark ~= '' then",
			New:    "if false then",
			Killer: by("./lock/redlock/internal/scripts", "TestScriptsRevokeReaders"),
		},
		{
			Bug: "revoke.lua: a reader that has expired is one", Why: "the list has readers that have ended",
			File:   "lock/redlock/internal/scripts/revoke.lua",
			Old:    "if tonumber(expiry) >= now then",
			New:    "if expiry then",
			Killer: by("./lock/redlock/internal/scripts", "TestScriptsRevokeReaders"),
		},
		{
			Bug: "in memory, a revoked reader is renewed", Why: "the simulation sees other revokes than Redis carries out",
			File:   "lock/internal/memstate/instant.go",
			Old:    "s.revoked(req.Key, req.Token); err != nil {",
			New:    "s.revoked(req.Key, req.Token); err != nil && req.Mode != driver.Read {",
			Killer: by(fakes, "TestFakeMatchesRevokeOfReaders"),
		},
		{
			Bug: "the promised time of readers is that of the last one listed", Why: "another keeps a writer out for longer",
			File:   "lock/engine/revokereaders.go",
			Old:    "last = max(last, its.TTL)",
			New:    "last = its.TTL",
			Killer: by(room, "TestReadersPromise"),
		},
		{
			Bug: "a reader on a minority of the nodes is not marked", Why: "it is put back on the others, and renewed",
			File:   "lock/engine/revokereaders.go",
			Old:    "if instance == \"\" || seen.Holder.Instance == instance {",
			New:    "if seen.Held && (instance == \"\" || seen.Holder.Instance == instance) {",
			Killer: by(memory, "TestRevokeReadersOnAMinority"),
		},
		{
			Bug: "a node counts that has marked some of the readers", Why: "the others are renewed",
			File:   "lock/engine/revokereaders.go",
			Old:    "find(n, one.grant).Record == \"\" })",
			New:    "false && find(n, one.grant).Record == \"\" })",
			Killer: by(room, "TestReadersPromise"),
		},
	}
}
