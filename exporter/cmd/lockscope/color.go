package main

import "github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"

// colorStatus colours the first column of a table by its status.
func colorStatus(column int, cell, padded string) string {
	if column != 0 {
		return padded
	}
	switch diagnosis.Status(cell) {
	case diagnosis.Pass:
		return "\x1b[32m" + padded + "\x1b[0m"
	case diagnosis.Warn:
		return "\x1b[33m" + padded + "\x1b[0m"
	case diagnosis.Fail:
		return "\x1b[31m" + padded + "\x1b[0m"
	}
	return padded
}
