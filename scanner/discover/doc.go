// Package discover samples the keys of a server and detects which libraries keep locks there, under which patterns,
// and on what evidence.
//
//	result, err := discover.Sample(ctx, client, discover.Options{})
//	for _, f := range result.Found {
//		fmt.Println(f.Library, f.Pattern, f.Keys, f.Confidence, f.Evidence)
//	}
//
// It recognises a library by the form of its values and the names of its keys. It only reads. Results, errors and
// logs never have a value.
//
// libraries.txt has the forms, each with its place in the library's source. README.md lists the libraries, says for each
// what is known of its locks, and how to add one.
package discover
