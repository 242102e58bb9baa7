// Package netfault puts a TCP proxy between a client and a real server and lets a test do to the connection what
// networks do: slow it down, swallow what one side says, cut it, refuse it, deliver a command long after the client
// gave up, deliver it twice, or let one connection overtake another.
//
//	proxy, err := netfault.Listen(server.Addr())
//	...
//	defer proxy.Close()
//	client := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
//
//	proxy.Hold()                                  // what the client says now stays in the proxy
//	client.Set(ctx, "lock:a", token, time.Minute) // times out
//	client.Close()
//	proxy.Flow()                                  // and now the server executes it
//
// # When a fault takes effect
//
// A fault applies to every byte that is sent after the method that sets it has returned, on connections old and new.
// Whether bytes are dropped, and how long they take, is decided when they arrive at the proxy; whether they are held,
// when they are about to leave it.
//
// # What the ends see
//
// The end of a stream is not swallowed and takes its place behind the bytes before it. When the client closes, the
// server still gets all that was held or delayed, and then the end; when the server closes, the client gets the replies
// under way, and then both ends are closed. A connection whose client has gone therefore lives until its bytes have
// been delivered and the server has closed it, or until CutAll or Close.
package netfault
