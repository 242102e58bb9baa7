// Package keyreader reads keys of one Redis server, and of their values no more
// than a lock can be large: pages of SCAN, and given keys once more. A [Reader] does
// both by a script, or by plain commands where scripts may not run.
//
//	Reader, Query, Scope         reader.go
//	one page of SCAN             page.go, page.lua
//	given keys                   look.go, look.lua, describe.lua
//	scripts, and where they run  scripts.go
//	the plain commands           plain.go, pipeline.go
//	what was read                value.go
//	only a part of it            parts.go
//	one of its readers           readers.go
//	patterns, helper keys        glob.go
//
// It knows no more of locks and their formats than how the readers of a lock share a hash, and nothing of what may be
// wrong with them.
package keyreader
