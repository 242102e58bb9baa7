package redlock

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

func TestOpenRefusesBadURLsWithoutTheirText(t *testing.T) {
	for _, url := range []string{
		"", "s3cr3t", "http://user:s3cr3t@host:6379", "redis://app:s3cr3t@host:63x9/0",
		"redis://app:s3cr3t%zz@host:6379", "redis://app:s3cr3t/x@host:6379", "redis://host:6379/s3cr3t",
		"redis://host:6379?password=s3cr3t", "unix://s3cr3t", "unix://u:s3cr3t%zz@/tmp/x", "redis://:s3cr3t @host:1",
		"redis://[::1:s3cr3t@x",
	} {
		r, err := Open([]string{"redis://127.0.0.1:1", url})
		if err == nil {
			_ = r.Close()
			t.Errorf("Open(%q) did not fail", url)
			continue
		}
		if !errors.Is(err, lock.ErrInvalidNode) || lock.ReasonOf(err) != lock.ReasonInvalid {
			t.Errorf("Open(%q): untyped error %v", url, err)
		}
		if strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("the error for %q shows the password: %v", url, err)
		}
		if !strings.Contains(err.Error(), "URL 2") {
			t.Errorf("the error does not say which URL: %v", err)
		}
	}
}

// TestOpenTakesAddresses as the commands do.
func TestOpenTakesAddresses(t *testing.T) {
	for text, addr := range map[string]string{
		"10.0.0.1:6380": "10.0.0.1:6380", "redis:6380": "redis:6380", "localhost": "localhost:6379",
		"redis-1.example.com": "redis-1.example.com:6379", "10.0.0.1": "10.0.0.1:6379", "::1": "[::1]:6379",
		"[::1]:6380": "[::1]:6380", "/run/redis.sock": "/run/redis.sock",
	} {
		opt, err := ParseURL(text)
		if err != nil || opt.Addr != addr {
			t.Errorf("%s: %+v, %v; want %s", text, opt, err, addr)
		}
	}
	for _, text := range []string{"", "s3cr3t", ":6379", "host:", "app:s3cr3t@host:6379", "Host.Example.COM", "host/0"} {
		if opt, err := ParseURL(text); err == nil {
			t.Errorf("%q is taken for %s", text, opt.Addr)
		}
	}
}

func TestOpenRefusesNoneManyAndTheSameServerTwice(t *testing.T) {
	for name, urls := range map[string][]string{
		"none":  nil,
		"many":  make([]string, lock.MaxNodes+1),
		"twice": {"redis://127.0.0.1:7001", "redis://127.0.0.1:7002", "redis://127.0.0.1:7001/3"},
	} {
		for i := range urls {
			if urls[i] == "" {
				urls[i] = "redis://127.0.0.1:1"
			}
		}
		if _, err := Open(urls); !errors.Is(err, lock.ErrInvalidNode) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Open([]string{"redis://127.0.0.1:7001", "redis://127.0.0.1:7001"})
	if !errors.Is(err, driver.ErrDuplicate) {
		t.Errorf("twice: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("redis://app:", "@host:63x9/0")
	f.Add("rediss://", "@h/1?db=2")
	f.Add("redis://u:", "/x@h")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Tr0ub4dor"
		opt, err := ParseURL(before + secret + after)
		if (opt == nil) == (err == nil) {
			t.Fatalf("neither options nor an error, or both: %v, %v", opt, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("the secret is in %v", err)
		}
	})
}
