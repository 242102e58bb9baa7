// Package server is what the scanner needs of one Redis server besides its keys:
// connections of its own (connect.go), what it says of itself (info.go) and of its
// cluster's slots (cluster.go, slots.go), and which command may run scripts (eval.go).
package server
