// Package seen has what list and serve both derive from a reading of the nodes: ages at that time, and gaps.
package seen
