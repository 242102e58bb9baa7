// Package proof is where the pages of evidence are held to the tree: EVIDENCE.md, SCEPTICS.md and the record of the
// last campaign. The folders below check what package lock promises: spec, mutate, campaign and peers. README.md says
// how.
package proof
