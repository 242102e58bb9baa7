// Package top is lockscope top: nodes, contended locks and who blocks whom, again and again in a terminal, or once in a
// file. Package source reads them, model has what was read and its order, view draws it, and screen handles keys.
package top
