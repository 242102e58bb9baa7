// Package repair is the vocabulary of repairs. An [Action] says what to do to a leaked key, a [Result] says what was
// done, and a [Plan] lists actions for people to read and approve. Package scanner carries the actions
// out.
package repair
