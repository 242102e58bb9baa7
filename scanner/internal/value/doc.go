// Package value interprets the value of a lock: who holds it, in the known formats (holder.go), how well it
// identifies one holder (distinction.go), and whether a repair may rely on it (doubt.go). Tokens leave the package
// only by [Token] and [Grant].
package value
