// Package holders tracks since when the locks of a source have had one holder. A [Watch] receives every look at a
// lock (watch.go, lease.go), round after round through a node's keys (round.go). It compares what it saw with the
// times in values (believe.go), and its knowledge survives the process (saved.go).
package holders
