// Package scan is lockscope scan: one sweep, its report, and what is done about findings.
package scan
