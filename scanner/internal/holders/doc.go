// Package holders knows since when the locks of a source have had one holder. A [Watch] is
// told of every look at a lock (watch.go, lease.go), round after round through a node's keys (round.go);
// what it saw is compared with what a holder's clock says (believe.go), and outlives the
// process (saved.go).
package holders
