// Package hold is the command hold.
package hold
