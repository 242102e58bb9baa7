// Package seen is what list and serve both say of a reading of the nodes: ages as of then, and what was not read.
package seen
