module github.com/lockscope/lockscope/lock/contrib/zklock

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/lockscope/lockscope v0.1.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/redis/go-redis/v9 v9.22.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
