// Package fleet reads the pages of many processes and makes one document of them and of
// what the nodes tell.
//
// Holders and waiters publish where their page is (lock.WithPage), on the nodes, where
// anybody with write access can plant an address. So nothing is read unless a [Policy]
// allows it, and then only what can be a page: by GET, without credentials, cookies,
// proxies or redirects, at a path that ends in /debug/locks, on no link-local address,
// and on the loopback interface only where the address itself says so and a pattern
// allows it. How many pages, how often, how long and how much is bounded. What a page
// says is cut to size and shown under its own address only: it may say anything.
package fleet
