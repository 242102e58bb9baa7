package holders_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Values as the libraries write them.
const (
	token        = "0123456789abcdef0123456789abcdef"
	redsyncValue = "8Q5xLzCgV2rEJwJ7yYtSIA=="
	shedLockUUID = "5c2f1f86-6f26-4d1d-9c28-0d2f5a1f4b0a"
)

// holderOf returns what the value says about its holder.
func holderOf(text string) inspect.Hold {
	return holders.Holder(&keyreader.Value{
		Type: keyreader.String, Head: text[:min(len(text), keyreader.HeadSize)], Size: int64(len(text)),
	})
}

func TestHolderOf(t *testing.T) {
	since := time.Date(2026, 11, 21, 18, 0, 0, 5e6, time.UTC)
	for text, want := range map[string]inspect.Hold{
		"ADDED:2026-11-21T18:00:00.005Z@host-1:" +
			shedLockUUID: {Format: inspect.FormatShedLock, Holder: lock.Holder{Instance: "host-1", Since: since}},
		"ADDED:2026-11-21T18:00:00.005Z@host-1": {Format: inspect.FormatShedLock,
			Holder: lock.Holder{Instance: "host-1", Since: since}},
		"ADDED:2026-11-21T18:00:00.005Z@ho\nst": {Format: inspect.FormatShedLock,
			Holder: lock.Holder{Instance: "ho_st", Since: since}},
		"ADDED:2026-11-21T18:00:00.005Z@host:secret": {Format: inspect.FormatShedLock,
			Holder: lock.Holder{Since: since}},
		"ADDED:yesterday@host": {Format: inspect.FormatUnknown},
		"ADDED:":               {Format: inspect.FormatUnknown},
		redsyncValue:           {Format: inspect.FormatUnknown},
		"host-1:4711":          {Format: inspect.FormatUnknown},
		"":                     {Format: inspect.FormatUnknown},
		token + ":x|a|1|":      {Format: inspect.FormatUnknown},
	} {
		got := holderOf(text)
		if !got.Since.Equal(want.Since) {
			t.Errorf("%q: since %v", text, got.Since)
		}
		got.Since, want.Since = time.Time{}, time.Time{}
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzHolderOf(f *testing.F) {
	f.Add(token + ":17|web-3/4711|1763748000005|00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01|a.1")
	f.Add("ADDED:2026-11-21T18:00:00.005Z@batch-7:" + shedLockUUID)
	f.Add(redsyncValue)
	f.Fuzz(func(t *testing.T, text string) {
		h := holderOf(text)
		if h.Format == inspect.FormatUnknown && h != (inspect.Hold{Format: inspect.FormatUnknown}) {
			t.Errorf("%q: %+v of an unknown format", text, h)
		}
		if len(h.Instance) > 128 || strings.ContainsAny(h.Instance, "\n\r\x1b\x00") {
			t.Errorf("%q: name %q", text, h.Instance)
		}
	})
}
