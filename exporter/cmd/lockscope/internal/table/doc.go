// Package table writes tables for people: aligned, as wide as the terminal at
// most, in colour only where the caller asks for it.
package table
