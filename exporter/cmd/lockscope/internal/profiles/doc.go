// Package profiles makes a real redis-server answer as another product does: Dragonfly, Garnet, KeyDB, Valkey, or the
// managed services of AWS, Azure and Google. A proxy on the loopback interface changes what the product's documents
// say differs: the fields of INFO, and the commands that it refuses. All else is done by the redis-server.
//
//	server, err := profiles.Listen(redisServer.Addr(), profiles.Dragonfly())
//	...
//	defer server.Close()
//	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
//
// A test on a profile shows how lockscope treats what the documents say. It shows nothing about what they leave out:
// how the product executes scripts, expires keys or fails over.
package profiles
