// Package server is what the scanner needs of one Redis server besides its keys:
// connections of its own (connect.go), what INFO says (info.go), running scripts
// (script.go), and telling a server's answers from failures, without the keys that
// servers quote (scrub.go).
package server
