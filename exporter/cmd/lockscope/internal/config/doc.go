// Package config says which groups of servers are swept, for what, and where findings are sent: by the flags that scan
// and serve have in common, by a configuration file, or both. lockscope config checks such a file.
//
// A [File] is read strictly: an unknown name is an error with its line and the name that was probably meant. No error
// repeats a value, which could be a secret. [GroupFlags] build [Groups] of it and of the flags, which win over it.
package config
