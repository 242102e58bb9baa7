// Package audit has it on disk what is about to be done to a key before it is done, and then what became of it.
package audit
