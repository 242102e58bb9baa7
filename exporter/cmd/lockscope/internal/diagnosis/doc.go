// Package diagnosis asks Redis servers whether what Redlock assumes is true of them.
//
// [Gather] collects facts from the servers and changes nothing on them. [Examine] judges the facts with one small
// function per assumption. What one check says is a [Result]; the backends of other systems, which examine theirs
// beside what reads it, say it in an [Examination].
package diagnosis
