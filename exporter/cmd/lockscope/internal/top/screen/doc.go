// Package screen is the interactive half of lockscope top: keys, the time between two refreshes, and which row is
// selected. Package view draws it.
package screen
