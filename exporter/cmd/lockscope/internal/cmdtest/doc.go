// Package cmdtest is what tests of commands have in common: a run of lockscope with some of its commands, and what
// they ask of Redis.
package cmdtest
