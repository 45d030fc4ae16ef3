package journal

import (
	"bytes"
	"testing"
)

// FuzzRecords reads octets that a disk has made up, between two records that are whole.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{}, uint64(1))
	f.Add([]byte(mark), uint64(2))
	f.Add(appendRecord(nil, 3, []byte("whole")), uint64(3))
	f.Add(appendRecord(nil, 1, []byte("torn"))[:20], uint64(1))
	f.Fuzz(func(t *testing.T, octets []byte, salt uint64) {
		first, last := []byte("first"), []byte("last")
		all := append(appendRecord(nil, salt, first), octets...)
		all = appendRecord(all, salt, last)
		var found [][]byte
		size := 0
		_, lost := eachRecord(all, salt, func(at int, content []byte) {
			if saltAt(all[at:]) != salt || !bytes.Equal(readRecord(all[at:]), content) {
				t.Errorf("%q at %d", content, at)
			}
			found, size = append(found, content), size+headSize+len(content)
		})
		if size+lost != len(all) || !bytes.Equal(found[0], first) {
			t.Errorf("%d of %d octets are lost, found %q", lost, len(all), found)
		}
		if found := found[len(found)-1]; !bytes.HasSuffix(found, last) { // octets can begin a record that ends with it
			t.Errorf("the last one is %q", found)
		}
	})
}
