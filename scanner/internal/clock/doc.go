// Package clock waits: for a time that a context may cut short (clock.go), and between the pages of a server for as
// long as the server needs. [Pace] is the rule by which sweeps adapt to a server (pace.go). A [Pacer] applies it: it
// sends small commands beside the pages, as any other client would, and measures them (pacer.go).
//
// The rule compares two kinds of latency on the same connection, so it needs no number for what is slow: commands sent
// while no page is read, and commands sent at any other moment. Shorter pages come first, because a command that
// arrives during a page waits for the rest of it. A pause after the pages only makes such commands rarer.
package clock
