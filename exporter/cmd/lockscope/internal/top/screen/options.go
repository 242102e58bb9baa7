package screen

import (
	"time"
)

// Options say what to draw, and on what.
type Options struct {
	Width, Height int  // 0: as wide or as high as it gets
	Color         bool // SGR codes may be used
	Now           time.Time
	Every         time.Duration // time between two refreshes; 0: there is one frame
	Order         Order
	Filter        string
	Typing        bool // the filter is being typed
	Paused        bool
	Help          bool
	Selected      Key
	Opened        bool // the waiters of Selected are shown
	Scroll        int  // first waiter shown
}

// Key identifies a row.
type Key struct{ Set, Name string }

// KeyOf is that of a row.
func KeyOf(r *Resource) Key { return Key{r.Set, r.Name} }

// staleAfter is the age of a reading beyond which it is marked: two refreshes that it missed.
func (o *Options) staleAfter() time.Duration { return 2*o.Every + 3*time.Second }
