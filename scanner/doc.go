// Package scanner finds leaked locks.
package scanner
