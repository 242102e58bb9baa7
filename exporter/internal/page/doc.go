// Package page serves what a process knows about its locks at one address: as a page that updates itself, as JSON and
// as a stream of events.
//
// # Addresses
//
// A [Handler] needs no stripped prefix and no second route. The page is one document with its style and script
// inside, and asks for its data at the address it was loaded from, with a query. It can be mounted at /debug/locks,
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
// The document is [state.State], with its fields at the top level, and
//
//	views                    names of the views that are served below the page
//	fleet                    address of the page of all processes, if there is one
//	scan                     null if there is no scanner; else the last sweep as a
//	                         [report.Document], without "started" before the first
//
// If a source lists calls but has no totals and no blocked, its lists are counted. Lists are never null. Fields may
// be added, but are never renamed or removed. Names come from callers and may have any characters: escape them.
//
// # Compression
//
// JSON and events are compressed with gzip for clients that accept it, as all browsers do. Each event is flushed.
// With 1,023 callers waiting for 8 resources, a document has 44 KB, and 4.4 KB compressed, which a viewer costs per
// second. Uncompressed, and with the steps of slow acquisitions and five minutes of points, it was 200 KB.
//
// # Links
//
// Each resource links to those of its views that are served ([WithViews]): /trace, /profile and /history below the
// page's address. [Fleet] is the page of all processes, and [WithFleet] leads there.
//
// The page links to traces, if the source has their address (live.WithTraceURL), and to the pages of other processes,
// if their locks have it (lock.WithPage). Board and page accept only http and https URLs without credentials, and
// only hex for a trace id. No referrer is sent. The filter and the opened rows are in the fragment of the page's
// address.
package page
