// Package node is the servers of a scanner: a [Source] is one that was given to it, a server
// or a cluster (source.go, sources.go), and a [Connection] is the way to one master of it
// (connection.go). A [Scope] says which of their keys are read, and how gently (scope.go).
// [Each] reads several nodes at a time (each.go).
package node
