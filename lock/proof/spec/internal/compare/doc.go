// Package compare gives tests of the packages beside it a server of the code, to which they compare the nodes of their
// models: what a node does in a model, it does on a [locktest.FakeServer]. Package locktest tests that this server does
// what the scripts do on a real one.
package compare
