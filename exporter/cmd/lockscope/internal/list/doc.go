// Package list is lockscope list: who holds what now, and who waits, in all systems side by side.
package list
