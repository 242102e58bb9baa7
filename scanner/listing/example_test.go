package listing_test

import (
	"fmt"

	"github.com/lockscope/lockscope/scanner/listing"
)

// Two of three nodes name the same holder, so the lock is held. A silent node might name it, too.
func ExampleLock_Held() {
	for _, l := range []listing.Lock{
		{Resource: "order:1001", Nodes: 2, Of: 3},
		{Resource: "order:1002", Nodes: 1, Of: 3},
		{Resource: "order:1003", Nodes: 1, Of: 2, Silent: 1},
	} {
		fmt.Println(l.Resource, l.Held())
	}
	// Output:
	// order:1001 true
	// order:1002 false
	// order:1003 true
}
