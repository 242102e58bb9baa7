// Package elect is the command elect.
package elect
