// Package configcmd is lockscope config: it checks a configuration file of package config, or prints its schema.
package configcmd
