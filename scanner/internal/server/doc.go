// Package server is what the scanner needs of one Redis server besides its keys: separate connections (connect.go),
// INFO (info.go), cluster slots (cluster.go, slots.go), and the command that runs scripts (eval.go).
package server
