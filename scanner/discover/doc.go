// Package discover looks at a sample of a server's keys and says which libraries keep
// locks there, below which patterns, and why it thinks so.
//
//	result, err := discover.Sample(ctx, client, discover.Options{})
//	for _, f := range result.Found {
//		fmt.Println(f.Library, f.Pattern, f.Keys, f.Confidence, f.Evidence)
//	}
//
// A library is recognised by the form of its values and the names of its keys. Values are
// looked at and forgotten: no result, error or log has one. It only reads.
//
// The forms are in recognise.go, each with the place in the library's source that it is
// taken from.
package discover
