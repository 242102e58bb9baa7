// Package validate checks a file against the Trace Event Format as its document describes it. Tests use it.
//
// Beyond what the format requires, it asks for what a viewer needs to draw a file correctly: names of all processes and
// threads, thread ids that belong to one process, slices that nest, and arrows that begin and end inside slices.
package validate
