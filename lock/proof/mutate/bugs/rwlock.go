package bugs

const (
	readWriteLocks = "./lock/rwlock"
	memoryNode     = "lock/internal/memstate/shared.go"
	readerScripts  = "lock/redlock/internal/scripts/"
)

// readWriteMutants are bugs in read/write locks: in what a node does about readers and writers, and in what the engine
// asks.
func readWriteMutants() []Mutant {
	return []Mutant{
		{
			Bug: "a writer does not look for readers", Why: "a writer and readers are valid at once",
			File:   memoryNode,
			Old:    "if until, read := s.readUntil(key); read && req.Mode == driver.Write {\n",
			New:    "if until, read := s.readUntil(key); read && until < 0 {\n",
			Killer: by(readWriteLocks, "TestReadersShareAndWritersDoNot"),
		},
		{
			Bug: "nor does a lock of the same name", Why: "as above",
			File:   "lock/internal/memstate/instant.go",
			Old:    "\tif until, read := s.readUntil(key); read {\n\t\treturn s.refuse(",
			New:    "\tif until, read := s.readUntil(key); read && until < 0 {\n\t\treturn s.refuse(",
			Killer: by(readWriteLocks, "TestALockOfTheSameName"),
		},
		{
			Bug: "a reader starts no counter on a node that has lost its own", Why: "its fence is below an earlier writer's",
			File:   memoryNode,
			Old:    "\tif req.Mode == driver.Write || !counted {\n",
			New:    "\tif req.Mode == driver.Write || !counted && last > 0 {\n",
			Killer: by(readWriteLocks, "TestReaderFenceAfterAWipe"),
		},
		{
			Bug: "a writer that waits keeps nobody out", Why: "readers starve it",
			File:   "lock/engine/internal/attempt/attempt.go",
			Old:    "Mode: driver.Mode(t.Opts.Mode), Bar: Bar(e, &t.Opts),",
			New:    "Mode: driver.Mode(t.Opts.Mode),",
			Killer: by(readWriteLocks, "TestFirstComeFirstServed"),
		},
		{
			Bug: "it also keeps out the readers that came before it", Why: "who came first is served last",
			File:   memoryNode,
			Old:    "(req.Waiter.Ticket == 0 || b.ticket < req.Waiter.Ticket)",
			New:    "(req.Waiter.Ticket == 0 || b.ticket > 0)",
			Killer: by(readWriteLocks, "TestFirstComeFirstServed"),
		},
		{
			Bug: "a release names one reader of those in front", Why: "the others wait for their next look",
			File:   memoryNode,
			Old:    "\t\tcase heard:\n\t\t\tnamed = true\n",
			New:    "\t\tcase heard:\n\t\t\treturn true\n",
			Killer: by(readWriteLocks, "TestFirstComeFirstServed"),
		},
		{
			Bug: "a writer that gives up leaves its bars behind", Why: "readers wait for nobody until they expire",
			File:   "lock/engine/internal/contest/leave.go",
			Old:    "	gone := g.queued | g.barred\n",
			New:    "	gone := g.queued\n",
			Killer: by(readWriteLocks, "TestWriterGivesUp"),
		},
		{
			Bug: "the readers that it kept out are not named", Why: "they wait for their next look",
			File:   memoryNode,
			Old:    "!held && (mine || barred && !reserved)",
			New:    "!held && (mine || barred && held)",
			Killer: by(readWriteLocks, "TestWriterGivesUp"),
		},
		{
			Bug:    "a lost reader is put back where a writer waits for its place",
			Why:    "the writer waits for a reader that nobody counted",
			File:   memoryNode,
			Old:    "!votes || s.hasBar(key)",
			New:    "!votes || s.hasBar(\"\")",
			Killer: by("./lock/internal/memstate", "TestLostReaderWaitsForTheWriter"),
		},
		{
			Bug: "a reader may become the writer", Why: "it waits for itself",
			File:   "lock/engine/internal/lease/lease.go",
			Old:    "return ok && l.attempt.Req.Mode == driver.Read &&",
			New:    "return ok && l.attempt.Req.Mode == driver.Write &&",
			Killer: by(readWriteLocks, "TestUpgradeIsRefusedAtOnce"),
		},
		{
			Bug: "a driver that knows no modes is asked for readers", Why: "readers exclude one another, and nobody learns of it",
			File:   "lock/engine/internal/contest/readers.go",
			Old:    "return c.Readers }, errNoModes)",
			New:    "return true }, errNoModes)",
			Killer: by("./lock/engine", "TestReadersNeedADriverThatKnowsThem"),
		},
		{
			Bug: "rwacquire.lua: a writer does not look for readers", Why: "a writer and readers are valid at once",
			File:   readerScripts + "rwacquire.lua",
			Old:    "if writes and last then\n",
			New:    "if writes and last and not first then\n",
			Killer: by(readWriteLocks, "TestRealKeys"),
		},
		{
			Bug:    "rwshared.lua: a short reader shortens the time of all",
			Why:    "the longer ones are forgotten while they are valid",
			File:   readerScripts + "rwshared.lua",
			Old:    "read_until(lock, index, math.max(last or 0, expiry))",
			New:    "read_until(lock, index, expiry)",
			Killer: by(readWriteLocks, "TestRealKeys"),
		},
		{
			Bug: "rwextend.lua: a lost reader is put back while a writer waits", Why: "the writer waits for it, too",
			File:   readerScripts + "rwextend.lua",
			Old:    " or next(bars_of(KEYS[5])) then\n",
			New:    " then\n",
			Killer: by(readWriteLocks, "TestRealLostReaderIsNotPutBack"),
		},
		{
			Bug: "rwrelease.lua: a reader that goes takes the others with it", Why: "they are forgotten while they are valid",
			File:   readerScripts + "rwrelease.lua",
			Old:    "  result = remove_reader(KEYS[1], KEYS[7], token)\n",
			New:    "  result = redis.call('DEL', KEYS[1])\n",
			Killer: by(readWriteLocks, "TestRealKeys"),
		},
		{
			Bug: "a kind need not be that of the mode", Why: "views show readers and permits where there are none",
			File:   "lock/engine/settings.go",
			Old:    "case misnamed(o):",
			New:    "case false:",
			Killer: by(readWriteLocks, "TestAnOptionMakesNoReader"),
		},
		{
			Bug: "rwshared.lua: readers that the index lacks do not count", Why: "a writer and a reader are valid at once",
			File:   readerScripts + "rwshared.lua",
			Old:    "  if size ~= indexed then\n",
			New:    "  if size < indexed then\n",
			Killer: by(scripting, "TestScriptsCountReadersThatTheIndexLacks"),
		},
		{
			Bug:    "rwshared.lua: a reader that was renewed keeps its place in the index",
			Why:    "it is taken out while it is valid",
			File:   readerScripts + "rwshared.lua",
			Old:    "  redis.call('ZADD', index, 0, token, ends, 'e' .. token)\n",
			New:    "  redis.call('ZADD', index, 'NX', 0, token, ends, 'e' .. token)\n",
			Killer: by(scripting, "TestScriptsRenewInTheIndex"),
		},
	}
}
