package fleet

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// View is what one page has in one of its views.
type View struct {
	Page string
	Body []byte // untrusted
	Err  error  // why it could not be read, without anything of the answer
}

// ReadViews reads a view of each page, once, with this query. It returns when each has answered, failed or reached
// [Timeout], or ctx has ended. Views are sorted by page. Pages beyond [MaxPages] are counted.
func ReadViews(ctx context.Context, p Policy, pages []string, view string, query url.Values) (all []View, omitted int) {
	pages = slices.Compact(slices.Sorted(slices.Values(pages)))
	omitted = max(0, len(pages)-MaxPages)
	pages = pages[:len(pages)-omitted]
	all = make([]View, len(pages))
	client := newClient(p)
	slots := make(chan struct{}, atOnce)
	var reading sync.WaitGroup
	for i, page := range pages {
		reading.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			all[i].Page = page
			u, err := p.address(page)
			if err == nil {
				u.Path, u.RawQuery = strings.TrimSuffix(u.Path, "/")+"/"+view, query.Encode()
				all[i].Body, err = get(ctx, client, u)
			}
			all[i].Err = err
		})
	}
	reading.Wait()
	return all, omitted
}
