// Package page serves what a process knows about its locks: as a page that
// updates itself, as JSON and as a stream of events, all at one address.
//
// # Addresses
//
// A [Handler] needs no prefix stripped and no second route: the page is one
// document with its style and script inside, and asks for its data at the
// address it was loaded from, with a query. It can be mounted at /debug/locks,
// at /debug/locks/ and behind a proxy that adds or removes a path prefix.
//
//	GET                      the page, unless Accept prefers one of the next two
//	GET ?format=json         one document; also for Accept: application/json
//	GET ?format=events       Server-Sent Events, one document per event, now and
//	                         then every interval; also for Accept: text/event-stream
//	GET ?format=html         the page, whatever Accept says
//
// # The document
//
// The document is [live.State], whose fields lie at the top, and beside them
//
//	scan                     null if there is no scanner; else the last sweep as a
//	                         [scanner.Document], without "started" before the first
//
// Lists are never null. Fields may be added, none is renamed or removed. Names
// come from whoever takes locks and hold any characters: escape them.
package page
