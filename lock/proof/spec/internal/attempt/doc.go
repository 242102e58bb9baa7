// Package attempt has the words that the models share: how far an attempt has come, and what has become of its calls on
// a node.
package attempt
