package server

import "strings"

// KeySlot is the hash slot of a key, as the Redis Cluster specification has it: CRC16
// (XMODEM) of the key, or of its first tag in braces that is not empty.
func KeySlot(key string) int {
	if _, rest, open := strings.Cut(key, "{"); open {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return int(crc % SlotCount)
}
