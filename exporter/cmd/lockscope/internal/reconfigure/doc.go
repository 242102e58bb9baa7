// Package reconfigure is lockscope reconfigure: other members, or another longest TTL, for a set of nodes.
package reconfigure
