// Package node is the servers of a scanner. A [Source] is a server or cluster that was given to it, and a [Connection]
// leads to one of its masters (source.go, connection.go). The scanner has connections of its own (connect.go). It asks
// a server for INFO and slots, and by which command it runs scripts (info.go, slots.go).
package node
