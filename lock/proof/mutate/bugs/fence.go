package bugs

// fenceMutants are bugs in the fencing token.
func fenceMutants() []Mutant {
	return []Mutant{
		{
			Bug:  "the quorum's counters are not raised to the fence",
			Why:  "the next quorum counts on from a smaller one: fences go back",
			File: "lock/engine/internal/attempt/fence.go", Old: "if err := a.raise(ctx, target); err != nil {",
			New:    "if err := ctx.Err(); err != nil {",
			Killer: by(engine, "TestAQuorumStandsBehindTheFence"),
		},
		{
			Bug:  "a raise that the node refused counts",
			Why:  "the key came back as another grant: the counter is not behind the fence",
			File: "lock/engine/internal/attempt/fence.go", Old: "if err == nil && !raised {", New: "if false {",
			Killer: by(engine, "TestARaiseThatIsRefusedIsNoVote"),
		},
		{
			Bug:  "raise is not bound to the grant",
			Why:  "a key that was lost and came back counts as the grant before: one fence twice",
			File: "lock/redlock/internal/scripts/raise.lua", Old: "local grant = ARGV[1] .. '|'",
			New:    "local grant = string.match(ARGV[1], '^%x+:')",
			Killer: by(scripting, "TestScriptsCompareTokens"),
		},
		{
			Bug: "raise compares the beginning of a number", Why: "as above, where a counter has one digit more",
			File: "lock/redlock/internal/scripts/raise.lua", Old: "local grant = ARGV[1] .. '|'",
			New:    "local grant = ARGV[1]",
			Killer: by(scripting, "TestScriptsCompareTokens"),
		},
		{
			Bug: "the run is not counted in the agreement", Why: "two leases with fence 102",
			File: "lock/engine/internal/attempt/fence.go", Old: "a.raise(ctx, target)", New: "a.raise(ctx, a.fence)",
			Killer: by(engine, "TestAQuorumStandsBehindTheRun"),
		},
		{
			Bug: "a run ends where the farthest node's does", Why: "the quorum grants the last fences of it again",
			File: "lock/engine/internal/attempt/fence.go",
			Old:  "a.run = end - a.fence + 1", New: "a.run = target - a.fence + 1",
			Killer: by(attempts, "TestARunEndsWhereAQuorumsCountersEnd"),
		},
		{
			Bug:  "the smallest counter is the fence",
			Why:  "a grant that is counted is above the token: the next has the same",
			File: "lock/engine/internal/attempt/fence.go",
			Old:  "if first > a.fence {", New: "if first < a.fence || a.fence == 0 {",
			Killer: by(attempts, "TestARunEndsWhereAQuorumsCountersEnd"),
		},
		{
			Bug:  "a run is reserved although the counter is ahead of the clock",
			Why:  "a node that was wiped counts from the clock, behind: fences go back",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "if fence > (seconds + 1) * 1000000 + now[2] then",
			New:    "if false then",
			Killer: by(scripting, "TestScriptsCountFences"),
		},
		{
			Bug: "the node reserves no run and says that it did", Why: "fences that were handed out are granted again",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "redis.call('SET', KEYS[2], ends)",
			New:    "redis.call('SET', KEYS[2], digits)",
			Killer: by(scripting, "TestScriptsCountFences"),
		},
		{
			Bug: "a client's clock that is late lowers the counter of a wiped node", Why: "fences go back by an hour",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "elseif floor < (seconds - 10) * 1000000 then",
			New:    "elseif false then",
			Killer: by(scripting, "TestScriptsCountFences"),
		},
		{
			Bug:  "a client's clock that is ahead carries the counter along",
			Why:  "one wrong clock moves all fences to its future",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "if floor > (seconds + 10) * 1000000 then",
			New:    "if false then",
			Killer: by(scripting, "TestScriptsCountFences"),
		},
		{
			Bug: "the counter is not counted up", Why: "with clocks that stand still, one fence twice",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "local fence, floor = last + 1, asked",
			New:    "local fence, floor = last, asked",
			Killer: by(scripting, "TestScriptsCountFences"),
		},
		{
			Bug:  "a counter near 2^53 is counted on",
			Why:  "numbers are not exact from there: one fence again and again",
			File: "lock/redlock/internal/scripts/acquire.lua", Old: "last >= 9007199254740991", New: "false",
			Killer: by(scripting, "TestScriptsCountFences"),
		},
		{
			Bug:  "a refill leaves the counter where it was",
			Why:  "a node that forgot and has the lease back votes for a lower fence when it is released",
			File: "lock/redlock/internal/scripts/extend.lua",
			Old:  "if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[5]) then", New: "if false then",
			Killer: by(scripting, "TestScriptsRefill"),
		},
		{
			Bug: "a script in Redis keeps its token beside its first key only", Why: "a late script overwrites its other keys",
			File: "lock/fencing/redisfence/redisfence.go", Old: "range keys {", New: "range keys[:1] {",
			Killer: by("./lock/fencing/redisfence", "TestScriptsThatShareAKey"),
		},
		{
			Bug: "a store of objects is not asked whether it honours conditions", Why: "late writes pass on one that ignores them",
			File: "lock/fencing/objects.go", Old: "if seen == 0 && !verified {", New: "if false && !verified {",
			Killer: by("./lock/fencing", "TestStoreIgnoresConditions"),
		},
		{
			Bug: "an object remembers only its last write", Why: "a change whose answer was lost is made again: 107 for 104",
			File: "lock/fencing/objects.go", Old: "ids[:min(len(ids), rememberedWrites-1)]...)", New: "ids[:0]...)",
			Killer: by("./lock/fencing", "TestOthersWriteWhileAnAnswerIsLost"),
		},
		{
			Bug: "an update counts again where an object may have forgotten it", Why: "one change is made twice",
			File: "lock/fencing/objects.go", Old: "try > 0 && !known {", New: "try > 99 && !known {",
			Killer: by("./lock/fencing", "TestOthersWriteWhileAnAnswerIsLost"),
		},
	}
}
