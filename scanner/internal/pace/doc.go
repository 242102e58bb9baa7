// Package pace decides how fast the pages of one server are read. A [Pace] is the rule (pace.go), and a [Pacer] applies
// it to a server: it sends small commands beside the pages, as any other client would, and measures them (pacer.go).
//
// The rule compares two kinds of latency on the same connection, so it needs no number for what is slow: commands sent
// while no page is read, and commands sent at any other moment. Shorter pages come first, because a command that
// arrives during a page waits for the rest of it. A pause after the pages only makes such commands rarer.
package pace
