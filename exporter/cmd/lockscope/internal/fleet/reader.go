// Package fleet reads the pages of many processes and combines them with what the nodes report.
//
// Holders and waiters publish the address of their page on the nodes (lock.WithPage), where anybody with write access
// can plant an address. So a [Policy] must allow each page, and only a possible page is read:
//
//   - by GET, without credentials, cookies, proxies or redirects;
//   - at a path that ends in /debug/locks;
//   - never on a link-local address, and on the loopback interface only if the address itself names it and a pattern
//     allows it.
//
// The number of pages, their frequency, duration and size are bounded. The content of a page is cut to size and shown
// only under its own address, because it may be anything.
//
// What every view derives from a reading of the nodes is here too: ages at that time, and queues that were not read.
package fleet

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The limits of a Reader.
const (
	MaxPages = 200              // that are read
	Every    = 10 * time.Second // between two reads of one page
	Timeout  = 2 * time.Second  // of one read
	MaxBody  = 4 << 20          // bytes of an answer, uncompressed
	atOnce   = 16               // pages that are read at one time
)

// Page is what is known of one page.
type Page struct {
	URL      string
	Instance string     // whose it says it is
	Calls    []Call     // that wait, as it lists them; none while reads fail
	Counts   []Count    // of waiting calls by resource, listed or not; none while reads fail
	Recent   *Recent    // nil while reads fail, or if it measures no calls
	Turnover []Turnover // of the resources that it lists; none while reads fail
	Read     time.Time  // the last read that succeeded; zero: none did
	Failing  time.Time  // since when reads fail; zero: the last one succeeded
	Err      error      // why

	asked time.Time
}

// Reader reads pages. It is safe for concurrent use.
type Reader struct {
	policy Policy
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	pages   map[string]*Page
	omitted int
}

// NewReader makes a Reader of the pages that the policy allows.
func NewReader(p Policy) *Reader {
	return &Reader{policy: p, client: newClient(p), now: time.Now, pages: make(map[string]*Page)}
}

// Read reads those pages that were not read in the last [Every], and forgets pages that are no longer listed. It
// returns when each has answered, failed or reached [Timeout], or ctx has ended. Of more than [MaxPages], pages that
// have answered before come first. The others are chosen by lot, so that dead addresses do not keep live ones out
// forever.
func (r *Reader) Read(ctx context.Context, pages []string) {
	var reading sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, url := range r.due(pages) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			reading.Wait()
			return
		}
		reading.Go(func() {
			defer func() { <-slots }()
			r.read(ctx, url)
		})
	}
	reading.Wait()
}

// due returns the pages to read now.
func (r *Reader) due(pages []string) (urls []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.choose(pages)
	for _, p := range kept {
		if r.now().Sub(p.asked) >= Every {
			p.asked = r.now()
			urls = append(urls, p.URL)
		}
	}
	return urls
}

// choose keeps the wanted pages, up to the limit. r.mu is held.
func (r *Reader) choose(wanted []string) []*Page {
	var all []*Page
	seen := make(map[string]bool)
	for _, url := range wanted {
		if seen[url] {
			continue
		}
		seen[url] = true
		p := r.pages[url]
		if p == nil {
			p = &Page{URL: url}
		}
		all = append(all, p)
	}
	if len(all) > MaxPages {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		slices.SortStableFunc(all, func(a, b *Page) int { return cmp.Compare(r.rank(a), r.rank(b)) })
	}
	kept := all[:min(len(all), MaxPages)]
	r.omitted = len(all) - len(kept)
	clear(r.pages)
	for _, p := range kept {
		r.pages[p.URL] = p
	}
	return kept
}

// rank keeps pages that were just asked, so that the limit holds.
func (r *Reader) rank(p *Page) int {
	switch {
	case !p.Read.IsZero():
		return 0
	case r.now().Sub(p.asked) < Every:
		return 1
	}
	return 2
}

func (r *Reader) read(ctx context.Context, url string) {
	a, err := r.ask(ctx, url)
	if ctx.Err() != nil {
		return // it is not the page that failed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pages[url]
	switch {
	case p == nil: // forgotten meanwhile
	case err != nil:
		if p.Err = err; p.Failing.IsZero() {
			p.Failing = r.now()
		}
		p.Calls, p.Counts, p.Recent, p.Turnover = nil, nil, nil, nil // nobody knows whether they still wait
	default:
		p.Instance, p.Calls, p.Counts = a.Instance, a.calls(), a.counts()
		p.Recent, p.Turnover = a.recent(), a.turnover()
		p.Read, p.Failing, p.Err = r.now(), time.Time{}, nil
	}
}

// Pages returns what is known of the pages, by address, and how many are left out.
func (r *Reader) Pages() (pages []Page, omitted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pages {
		pages = append(pages, *p)
	}
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Compare(a.URL, b.URL) })
	return pages, r.omitted
}
