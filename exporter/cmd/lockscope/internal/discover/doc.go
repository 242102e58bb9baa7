// Package discover is lockscope discover: it detects lock libraries and suggests a configuration.
package discover
