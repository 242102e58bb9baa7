// Package judge says what is wrong with a lock, by the policies, limits and exclusions of a
// scanner. It knows one lock on one node at a time: what takes several nodes to see is
// package orphan's.
package judge
