// Package node is the servers of a scanner. A [Source] is a server or cluster that was given to it (source.go,
// sources.go). A [Connection] leads to one of its masters (connection.go). A [Scope] says which keys are read, and
// how gently (scope.go). [Each] reads several nodes at a time (each.go).
package node
