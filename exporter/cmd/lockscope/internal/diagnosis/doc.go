// Package diagnosis checks Redis servers against the assumptions of Redlock.
//
// [Gather] collects facts from the servers and changes nothing on them. [Examine] judges the facts with one small
// function per assumption. Each check returns a [Result]; the backends of other systems return theirs in an
// [Examination].
package diagnosis
