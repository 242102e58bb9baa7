// Package keyreader reads keys of one Redis server, and of their values no more
// than a lock can be large: pages of SCAN, and given keys once more. A [Reader] does
// both by a script, or by plain commands where scripts may not run.
//
//	Reader, Query        reader.go
//	one page of SCAN     page.go, page.lua; what it has pages.go
//	given keys           look.go, look.lua, describe.lua
//	the scripts          scripts.go
//	the plain commands   plain.go
//	may it run scripts   capability.go
//	what was read        value.go
//	only its beginning   heads.go
//	only its fields      fields.go
//	one of its readers   readers.go
//	patterns of keys     glob.go
//	keys beside locks    helper.go
//
// It knows no more of locks and their formats than how the readers of a lock share a hash, and nothing of what may be
// wrong with them.
package keyreader
