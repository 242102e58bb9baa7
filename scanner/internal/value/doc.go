// Package value is what the value of a lock tells: who holds it, in the formats of the
// libraries that are known (holder.go), how far it tells one holder from the next
// (distinction.go), and whether a repair may take it for one owner's (doubt.go). No token
// leaves it but by [Token] and [Grant].
package value
