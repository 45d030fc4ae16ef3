package postgres

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestArrays_AreTheSameAndNeedTheirSizeOnce compares with pgx itself. What asks for memory is counted, so no other test
// runs beside it.
func TestArrays_AreTheSameAndNeedTheirSizeOnce(t *testing.T) {
	long := strings.Repeat("x", 700)
	var texts []string
	var nullable []*string
	var octets [][]byte
	for i := range 200 {
		texts, octets = append(texts, long[i:]), append(octets, []byte(long[i:]))
		nullable = append(nullable, nil, &texts[i])
	}
	octets = append(octets, nil, []byte{})
	theirs, ours := pgtype.NewMap(), pgtype.NewMap()
	makeRoomForArrays(ours)
	for name, c := range map[string]struct {
		oid   uint32
		value any
	}{
		"texts": {pgtype.TextArrayOID, texts}, "nullable": {pgtype.TextArrayOID, nullable},
		"octets": {pgtype.ByteaArrayOID, octets}, "none": {pgtype.TextArrayOID, []string(nil)},
		"empty": {pgtype.ByteaArrayOID, [][]byte{}}, "no octets": {pgtype.ByteaArrayOID, [][]byte(nil)},
	} {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			want, err := theirs.Encode(c.oid, format, c.value, []byte("before"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours.Encode(c.oid, format, c.value, []byte("before"))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s in format %d differ, %v", name, format, err)
			}
		}
		encode := func() { _, _ = ours.Encode(c.oid, pgtype.BinaryFormatCode, c.value, nil) }
		if n := testing.AllocsPerRun(10, encode); n > 210 { // once for each element
			t.Errorf("%s: memory was asked for %v times", name, n)
		}
	}
}

// BenchmarkArrays encodes a column of a batch of rows with and without room.
func BenchmarkArrays(b *testing.B) {
	column := make([]string, 128)
	for i := range column {
		column[i] = strings.Repeat("x", 900)
	}
	theirs, ours := pgtype.NewMap(), pgtype.NewMap()
	makeRoomForArrays(ours)
	for name, types := range map[string]*pgtype.Map{"pgx": theirs, "roomy": ours} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := types.Encode(pgtype.TextArrayOID, pgtype.BinaryFormatCode, column, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
