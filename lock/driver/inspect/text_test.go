package inspect

import (
	"testing"
	"time"
)

func TestKeyText(t *testing.T) {
	for key, want := range map[string]string{
		"lock:order:1": "lock:order:1", "": `""`, `"x`: `"\"x"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "größe": "größe",
		"lock:a\u0085b": `"lock:a\u0085b"`, "lock:\u202eb": `"lock:\u202eb"`,
	} {
		if got := KeyText(key); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0ms", 1500 * time.Microsecond: "1.5ms", 250 * time.Millisecond: "250ms", 1500 * time.Millisecond: "1.5s",
		61 * time.Second: "1m01s", 90 * time.Minute: "1h30m", 100 * time.Hour: "4d04h",
	} {
		if got := Short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestWhole(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 250 * time.Millisecond: "250ms", 41 * time.Second: "41s", 59600 * time.Millisecond: "1m00s",
		61 * time.Second: "1m01s", time.Hour: "1h00m",
	} {
		if got := Whole(d); got != want {
			t.Errorf("Whole(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 keys": Count(0, "key"), "1 key": Count(1, "key"), "2 keys": Count(int64(2), "key"),
		"1 process": Count(1, "process"), "2 processes": Count(2, "process"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
