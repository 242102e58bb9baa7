// Package vouch lets redlock.Vouch declare that nodes are new, and says of each node what
// came of it and what to do next.
package vouch
