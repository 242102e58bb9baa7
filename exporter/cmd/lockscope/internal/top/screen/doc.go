// Package screen is what lockscope top shows.
//
// A [Snapshot] is nodes, contended resources and rates as they were at one moment, with the order of the rows and what
// is wrong. [Frame] draws it as lines of text, for a terminal or a file, and keeps no state; whatever nodes and pages
// say is written so that a terminal shows it and never obeys it (ui.Printable). A [Screen] is the interactive half:
// keys, the time between two refreshes, and which row is selected. None of them asks a server.
package screen
