// Package judge decides what is wrong with a lock, by the policies, limits and exclusions of a scanner. It sees one
// lock on one node at a time; package orphan compares nodes.
package judge
