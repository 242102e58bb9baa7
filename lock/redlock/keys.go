package redlock

import (
	"strconv"
	"sync"
)

// What a lock needs beside its own key lies outside the lock prefix, so that a scan
// for locks meets nothing else, and hashes to the lock key's Redis Cluster slot.

// fenceKey is the fence counter's, shared by the locks of a slot.
func fenceKey(lock string) string { return "lockscope:fence:{" + slotTags()[slotOf(lock)] + "}" }

// nextKey says whom the lock is kept for during a hand-over.
func nextKey(lock string) string { return "lockscope:next:{" + lock + "}" }

// queueKey is where its waiters are, in order of arrival.
func queueKey(lock string) string { return "lockscope:queue:{" + lock + "}" }

// tombstoneKey keeps a late acquire of token from taking effect.
func tombstoneKey(lock, token string) string { return "lockscope:tomb:{" + lock + "}:" + token }

const slotCount = 16384

// slotTags returns for each slot the smallest decimal number that hashes to it.
var slotTags = sync.OnceValue(func() *[slotCount]string {
	tags := new([slotCount]string)
	for n, missing := 0, slotCount; missing > 0; n++ {
		tag := strconv.Itoa(n)
		if slot := slotOf(tag); tags[slot] == "" {
			tags[slot] = tag
			missing--
		}
	}
	return tags
})

// slotOf is the Redis Cluster slot of a key without a hash tag: CRC16 (XMODEM)
// modulo 16384, as in the Redis Cluster specification.
func slotOf(key string) uint16 {
	table := crcTable()
	var crc uint16
	for i := range len(key) {
		crc = crc<<8 ^ table[byte(crc>>8)^key[i]]
	}
	return crc % slotCount
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
