// Package model is what lockscope top shows: nodes, contended resources and rates as they were at one moment, the
// order of the rows, and what is wrong. It asks nobody and draws nothing.
package model
