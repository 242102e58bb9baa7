package bugs

// readerViewMutants are bugs in who waits for whom where there are readers.
func readerViewMutants() []Mutant {
	return []Mutant{
		{
			Bug: "of several readers only the last is known", Why: "a deadlock through another one is not found",
			File:   "lock/engine/internal/deadlock/resource.go",
			Old:    "\tr.readers = append(r.readers, l)\n",
			New:    "\tr.readers = []*Lease{l}\n",
			Killer: by("./lock/engine", "TestAWriterWaitsForEachReader"),
		},
		{
			Bug: "a reader waits for the readers beside it", Why: "a caller that reads again is refused for a deadlock that is none",
			File:   "lock/waitgraph/waitgraph.go",
			Old:    "if w.Kind == lock.KindRead && g.byName[resource].onlyRead() {\n",
			New:    "if w.Kind == lock.KindRead && len(w.Holds) == 0 && g.byName[resource].onlyRead() {\n",
			Killer: by("./lock/waitgraph", "TestReaders"),
		},
		{
			Bug: "a reader re-enters as the writer", Why: "it writes beside other readers",
			File:   "lock/reentrant.go",
			Old:    "NewAcquireOptions(opts...).Mode == ModeRead",
			New:    "NewAcquireOptions(opts...).Mode != ModeExclusive",
			Killer: by("./lock", "TestReentrantModes"),
		},
	}
}
