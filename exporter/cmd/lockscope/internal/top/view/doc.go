// Package view draws what lockscope top shows, as lines of text: the frame of a terminal, or of a file. It keeps no
// state. Whatever nodes and pages say is written so that a terminal shows it and never obeys it (ui.Printable).
package view
