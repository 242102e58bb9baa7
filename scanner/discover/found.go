package discover

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Library names the library that writes locks of a form, as in libraries.txt. Where several write the same form, the
// name says so or the evidence does.
type Library string

// Lockscope is the name of this project's own locks.
const Lockscope Library = "lockscope"

// Traits are what is known of the locks of a library, wherever they are found.
type Traits struct {
	Lasting    bool          // the library sets no TTL by design
	Foreign    bool          // it is a hash unlike any other lock, which a sweep reports however healthy it is
	MaxHold    time.Duration // how long one holder may need it; 0: unknown
	HeldForTTL bool          // nothing renews it: it is held for as long as its TTL at most
	Advice     string        // about limits; a sentence, or empty
}

// Found is the locks of one library under one pattern.
type Found struct {
	Library    Library
	Pattern    string // a glob pattern of Redis
	Keys       int    // keys in the sample
	Others     int    // keys in the sample that the pattern matches and that are no locks, if these are too many
	Example    string // one of the keys: any bytes; see inspect.KeyText
	NoTTL      int    // how many of the keys never expire
	MinTTL     time.Duration
	MaxTTL     time.Duration // zero: no key expires
	MaxLife    time.Duration // longest time from the start in a value to its end; zero: no value has a start
	Evidence   string        // one sentence, without a value
	Confidence inspect.Confidence
	Traits
}

// Covers reports whether the pattern matches a key.
func (f *Found) Covers(key string) bool { return keyreader.Matches(f.Pattern, key) }

// Result is the outcome of a sample.
type Result struct {
	Found   []Found // surest first
	Sampled int64   // keys read
	Whole   bool    // the sample has all keys
}

// seen is one recognised key.
type seen struct {
	clue
	key  string
	ttl  time.Duration // negative: none
	life time.Duration // from the start that the value tells to the end; zero: unknown
}

// collect groups recognised keys into findings. strangers are the other keys of the sample.
func collect(all []seen, strangers map[string]bool) []Found {
	groups := make(map[Library]map[string][]seen)
	for _, s := range all {
		if groups[s.library] == nil {
			groups[s.library] = make(map[string][]seen)
		}
		at := s.pattern
		if at == "" {
			at = "\x00" + firstPart(s.key) // no pattern has a NUL of its own here
		}
		groups[s.library][at] = append(groups[s.library][at], s)
	}
	var found []Found
	for library, patterns := range groups {
		for _, keys := range patterns {
			found = append(found, divide(library, keys, strangers)...)
		}
	}
	found = settle(found)
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Keys, a.Keys),
			cmp.Compare(a.Library, b.Library), cmp.Compare(a.Pattern, b.Pattern))
	})
	return found
}

func foundOf(library Library, pattern string, keys []seen) Found {
	f := Found{Library: library, Pattern: pattern, Keys: len(keys), Example: keys[0].key,
		Evidence: keys[0].evidence, Confidence: keys[0].confidence, Traits: keys[0].Traits}
	for _, k := range keys {
		f.Example = min(f.Example, k.key)
		if k.confidence > f.Confidence {
			f.Confidence, f.Evidence = k.confidence, k.evidence
		}
		f.MaxLife = max(f.MaxLife, k.life)
		switch {
		case k.ttl < 0:
			f.NoTTL++
		case f.MaxTTL == 0:
			f.MinTTL, f.MaxTTL = k.ttl, k.ttl
		default:
			f.MinTTL, f.MaxTTL = min(f.MinTTL, k.ttl), max(f.MaxTTL, k.ttl)
		}
	}
	return f
}

// likelyChance is how many keys outvote one of another library under the same pattern: 1 of 64 random tokens looks
// like a version 1 UUID, so a few among many belong to the many.
const likelyChance = 16

// settle adds the few keys under a pattern to the many.
func settle(found []Found) []Found {
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Keys, a.Keys),
			cmp.Compare(a.Library, b.Library))
	})
	var kept []Found
	for _, f := range found {
		at := slices.IndexFunc(kept, func(k Found) bool {
			return k.Pattern == f.Pattern && k.Keys >= f.Keys*likelyChance && isToken(k.Library) && isToken(f.Library)
		})
		if at < 0 {
			kept = append(kept, f)
			continue
		}
		many := &kept[at]
		many.Keys += f.Keys
		many.NoTTL += f.NoTTL
		if f.MaxTTL > 0 {
			many.MaxTTL = max(many.MaxTTL, f.MaxTTL)
			many.MinTTL = min(many.MinTTL, f.MinTTL)
		}
	}
	return kept
}

// isToken reports whether a library's values are only random tokens.
func isToken(l Library) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.library == l && r.token })
}
