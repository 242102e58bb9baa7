module github.com/lockscope/lockscope/lock/contrib/synclock

go 1.26.0

require github.com/lockscope/lockscope v0.1.0

require golang.org/x/sys v0.49.0 // indirect
