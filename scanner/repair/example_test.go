package repair_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/repair"
)

// Values of flags such as --action become actions.
func ExampleParseAction() {
	for _, text := range []string{"delete", "expire=1h", "shorten"} {
		a, err := repair.ParseAction(text)
		if errors.Is(err, repair.ErrInvalidAction) {
			fmt.Println(err)
			continue
		}
		fmt.Println(a.DryRun(), a.Deletes(), a.After() == time.Hour)
	}
	// Output:
	// delete (dry run) true false
	// expire=1h0m0s (dry run) false true
	// scanner: invalid action: "shorten": use delete or expire=DURATION, such as expire=1h
}
