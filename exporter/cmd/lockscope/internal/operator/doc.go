// Package operator is what a person does to locks, the commands hold, revoke and repair, and the log that has each act
// on disk before it is done, and its outcome after it.
package operator
