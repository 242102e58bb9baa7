// Package bugs has the bugs that the gate plants, one at a time, and the test that must notice each.
package bugs

import (
	"fmt"
	"strings"
)

// Mutant is one bug: a piece of text of one file, replaced by another.
type Mutant struct {
	Bug  string // what is wrong then
	Why  string // what comes of it
	File string // from the root of the repository

	Old, New string
	Times    int // how often Old occurs, and is replaced; 0 for once

	Killer Killer

	// Equivalent argues that no test can tell the mutant from the original. Such a one is
	// planted all the same, must survive, and is not counted among the killed.
	Equivalent string
}

// Killer is the test that must fail.
type Killer struct {
	Package string // as go test takes it
	Run     string // names of the test and of its subtest, without anchors: TestA or TestA/b_c
	Hangs   bool   // that it does not end is how it notices
}

func (k Killer) String() string { return k.Run }

// by is the test of a package of the lock.
func by(pkg, run string) Killer { return Killer{Package: pkg, Run: run} }

// hangs is the killer, where it notices by not coming to an end.
func (k Killer) hangs() Killer {
	k.Hangs = true
	return k
}

// Pattern is what -test.run takes.
func (k Killer) Pattern() string {
	parts := strings.Split(k.Run, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return strings.Join(parts, "/")
}

// Apply plants the bug in the text of its file. It fails if the text to replace is not there
// as often as it is said to be, or if nothing would change.
func (m Mutant) Apply(text string) (string, error) {
	want := max(m.Times, 1)
	switch n := strings.Count(text, m.Old); {
	case m.Old == "" || m.Old == m.New:
		return "", fmt.Errorf("%s: nothing to replace", m.File)
	case n != want:
		return "", fmt.Errorf("%s: the text to replace is there %d times instead of %d:\n%s", m.File, n, want, m.Old)
	}
	return strings.ReplaceAll(text, m.Old, m.New), nil
}

// All are the mutants, in the order of their numbers.
func All() []Mutant {
	var list []Mutant
	for _, of := range []func() []Mutant{
		voteMutants, validityMutants, fenceMutants, renewalMutants, releaseMutants, reentrantMutants, orderMutants,
		handOverMutants, waitMutants,
		guardMutants, changeMutants, evictionMutants, quarantineMutants, laneMutants,
		turnMutants, roundMutants, queueScriptMutants, actScriptMutants, memoryMutants, electionMutants, peekMutants,
		semaphoreMutants, readWriteMutants, undecidedMutants, revokeMutants, readerViewMutants, slotQueueMutants,
		contribMutants, placeMutants, postgresMutants, ensembleMutants, revokeReadersMutants, serverMutants, repairMutants,
	} {
		list = append(list, of()...)
	}
	return list
}

// Workspace is the file of the workspace that a package is tested in; "" if its module needs none.
func Workspace(pkg string) string {
	switch {
	case strings.HasPrefix(pkg, etcd), strings.HasPrefix(pkg, pg), strings.HasPrefix(pkg, zk):
		return "release.work"
	case strings.HasPrefix(pkg, contrib):
		return "contrib.work"
	}
	return ""
}
