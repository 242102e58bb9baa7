package server

import (
	"fmt"
	"testing"
)

func TestParseKeyspace(t *testing.T) {
	for text, want := range map[string][2]int64{
		"keys=3,expires=2,avg_ttl=9":          {3, 2},
		"keys=3,expires=2,avg_ttl=9,subexp=1": {3, 2},
		"expires=2":                           {-1, 2},
	} {
		keys, expiring, err := parseKeyspace(text)
		if err != nil || keys != want[0] || expiring != want[1] {
			t.Errorf("%q: %d, %d, %v", text, keys, expiring, err)
		}
	}
	if _, _, err := parseKeyspace("keys=many"); err == nil {
		t.Error("no error")
	}
}

func TestErrorsDoNotQuote(t *testing.T) {
	quoting := scrubbed("ERR unknown command 'evalsha', with args beginning with: 'hash' '1' 'lock:secret' ")
	if got := Scrub(fmt.Errorf("wrapped: %w", quoting)).Error(); got != "ERR unknown command 'evalsha'" {
		t.Errorf("%q", got)
	}
	if plain := scrubbed("LOADING"); Scrub(plain) != error(plain) {
		t.Error("an error that quotes nothing was changed")
	}
}
