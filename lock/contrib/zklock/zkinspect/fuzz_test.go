package zkinspect

import "testing"

// FuzzServer reads the answer to srvr, from whatever listens at the address.
func FuzzServer(f *testing.F) {
	f.Add("Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25\nMode: standalone\n")
	f.Add("srvr is not executed because it is not in the whitelist.\n")
	f.Add("HTTP/1.1 400 Bad Request\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var s server
		s.read(text)
		if s.Err == nil && !s.Silent && s.Mode == "" {
			t.Fatalf("%q is fine", text)
		}
	})
}
