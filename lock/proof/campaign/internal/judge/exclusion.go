//go:build linux

package judge

// exclusion: no two leases of a resource are valid at one time. This is a comparison of
// intervals; that the ledger is in order is porcupine's to say.
func (c *court) exclusion() {
	for _, leases := range c.byResource() {
		var longest *Lease
		for _, l := range leases {
			if longest != nil && l.Granted < longest.End() && l.End() > l.Granted {
				c.find(Exclusion, l.Resource, l.Granted, "%v is valid from %v to %v, and %v from %v to %v", longest,
					c.at(longest.Granted), c.at(longest.End()), l, c.at(l.Granted), c.at(l.End()))
			}
			if longest == nil || l.End() > longest.End() {
				longest = l
			}
		}
	}
}
