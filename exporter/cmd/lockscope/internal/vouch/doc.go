// Package vouch is lockscope init: it declares nodes new with redlock.Vouch, and reports the outcome and the next step
// for each node.
package vouch
