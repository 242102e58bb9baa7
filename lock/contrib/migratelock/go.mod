module github.com/lockscope/lockscope/lock/contrib/migratelock

go 1.26.0

require (
	github.com/golang-migrate/migrate/v4 v4.20.1
	github.com/lockscope/lockscope v0.1.0
	github.com/lockscope/lockscope/lock/contrib/synclock v0.1.0
)

require golang.org/x/sys v0.49.0 // indirect
