// Package server is what the scanner needs of one Redis server besides its keys:
// connections of its own (connect.go), how many keys there are (info.go), and which
// command may run scripts there (eval.go).
package server
