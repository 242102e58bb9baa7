// Package discover is lockscope discover: it recognises whose locks there are, and proposes a configuration.
package discover
