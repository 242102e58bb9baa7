package node

import "sync"

// atOnce bounds how many nodes are read at a time, and so the memory for their pages.
const atOnce = 8

// Each calls do for each node, several at a time, and waits.
func Each(nodes int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range nodes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wg.Wait()
}
