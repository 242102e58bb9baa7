// Package hashslot computes the Redis Cluster hash slot of a key. It is for lockscope's own packages:
// the driver derives keys from slots, and the scanner verifies which slots it has read.
package hashslot

import (
	"strings"
	"sync"
)

// Count is the number of hash slots of a Redis Cluster.
const Count = 16384

// Of returns the slot of a key by the Redis Cluster specification: CRC16 of its [Tag], modulo [Count].
func Of(key string) int { return int(crc16(Tag(key)) % Count) }

// Tag returns the part of a key that decides its slot: its hash tag, which is the first part in braces unless that is
// empty, or else the whole key.
func Tag(key string) string {
	if _, rest, open := strings.Cut(key, "{"); open {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			return tag
		}
	}
	return key
}

// crc16 is CRC-16/XMODEM, with the polynomial 0x1021.
func crc16(text string) (crc uint16) {
	table := crcTable()
	for i := range len(text) {
		crc = crc<<8 ^ table[byte(crc>>8)^text[i]]
	}
	return crc
}

// crcTable is the CRC of each byte: keys are hashed with every command.
var crcTable = sync.OnceValue(func() *[256]uint16 {
	table := new([256]uint16)
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
})
