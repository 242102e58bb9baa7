// Package cmdtest is what tests of commands have in common: a run of lockscope with some of its commands, servers of
// each system, and what tests ask of them.
package cmdtest
