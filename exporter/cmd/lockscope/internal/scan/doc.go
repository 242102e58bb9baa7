// Package scan is lockscope scan: one sweep, its report, and the repair of findings.
package scan
