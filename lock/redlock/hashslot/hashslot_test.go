package hashslot

import "testing"

// TestCRC16HasTheChecksumOfItsSpecification uses the vector that the Redis Cluster specification publishes.
func TestCRC16HasTheChecksumOfItsSpecification(t *testing.T) {
	if got := crc16("123456789"); got != 0x31C3 {
		t.Errorf("CRC16 of 123456789 is %#x, want 0x31C3", got)
	}
}

// TestSlotOfAgreesWithTheClusterSpecification compares with the answers of CLUSTER KEYSLOT of redis-server 7.0.15.
func TestSlotOfAgreesWithTheClusterSpecification(t *testing.T) {
	for key, want := range map[string]int{
		"123456789": 0x31C3 % Count, "": 0, "foo": 12182, "somekey": 11058, "lock:order:1001": 3766,
		"{foo}bar": 12182, "a{foo}{b}": 12182,
		// An empty tag or an unclosed brace is no tag: the whole key counts.
		"{}foo": int(crc16("{}foo") % Count), "foo{": int(crc16("foo{") % Count),
	} {
		if got := Of(key); got != want {
			t.Errorf("Of(%q) = %d, want %d", key, got, want)
		}
	}
	if Of("{}foo") == Of("{}bar") {
		t.Error("an empty tag is a tag")
	}
}
