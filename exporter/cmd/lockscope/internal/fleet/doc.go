// Package fleet reads the pages of many processes and combines them with what the nodes report.
//
// Holders and waiters publish the address of their page on the nodes (lock.WithPage), where anybody with write access
// can plant an address. So a [Policy] must allow each page, and only a possible page is read:
//
//   - by GET, without credentials, cookies, proxies or redirects;
//   - at a path that ends in /debug/locks;
//   - never on a link-local address, and on the loopback interface only if the address itself names it and a pattern
//     allows it.
//
// The number of pages, their frequency, duration and size are bounded. The content of a page is cut to size and shown
// only under its own address, because it may be anything.
//
// What every view derives from a reading of the nodes is here too: ages at that time, and queues that were not read.
package fleet
