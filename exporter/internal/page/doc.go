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
// A source that lists and does not count, without totals and blocked, has its lists
// counted. Lists are never null. Fields may be added, none is renamed or removed. Names
// come from whoever takes locks and hold any characters: escape them.
//
// # Compression
//
// JSON and events are compressed with gzip for clients that accept it, as all browsers
// do; each event is flushed. With 1,023 callers waiting for 8 resources a document has
// 44 KB, and 4.4 KB compressed, which is what a viewer costs a second. Uncompressed, and
// with the steps of slow acquisitions and five minutes of points, it was 200 KB.
//
// # Links
//
// The page leads to traces, if the source says where they are (live.WithTraceURL), and
// to the pages of other processes, if their locks say where these are (lock.WithPage).
// Board and page each take only http and https URLs without credentials, and only hex
// for a trace id; no referrer is sent. What is filtered, opened and unfolded stands
// behind the # of the page's own address.
package page
