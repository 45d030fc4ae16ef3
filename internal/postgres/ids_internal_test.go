package postgres

import (
	"bytes"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestIDs_AreTheSameAsTexts compares with pgx itself, which makes a text of each.
func TestIDs_AreTheSameAsTexts(t *testing.T) {
	t.Parallel()
	theirs, ours := pgtype.NewMap(), pgtype.NewMap()
	readIDsAsOctets(ours)
	invoice, null := id.New[id.Invoice](), (*id.Invoice)(nil)
	one, array := uint32(pgtype.UUIDOID), uint32(pgtype.UUIDArrayOID)
	for name, c := range map[string]struct {
		oid   uint32
		value any
	}{
		"id": {one, invoice}, "no id": {one, id.Invoice{}}, "pointer": {one, &invoice}, "null": {one, null},
		"uuid": {one, invoice.UUID()}, "zero uuid": {one, uuid.Nil}, "text": {one, invoice.String()},
		"octets": {one, [16]byte(invoice)}, "any": {one, id.Any(invoice)},
		"ids": {array, []id.Invoice{invoice, {}}}, "none": {array, []id.Invoice{}},
		"nullable": {array, []*id.Invoice{&invoice, nil}}, "uuids": {array, []uuid.UUID{invoice.UUID(), {}}},
	} {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			want, err := theirs.Encode(c.oid, format, c.value, []byte("before"))
			got, failed := ours.Encode(c.oid, format, c.value, []byte("before"))
			if (err == nil) != (failed == nil) || !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Errorf("%s in format %d: %x, %v; pgx gives %x, %v", name, format, got, failed, want, err)
			}
		}
	}
}

// TestIDs_AreReadFromOctets: null is no id, and anything but sixteen octets is refused.
func TestIDs_AreReadFromOctets(t *testing.T) {
	t.Parallel()
	types := pgtype.NewMap()
	readIDsAsOctets(types)
	want := id.New[id.Invoice]()
	for _, c := range []struct {
		format int16
		src    []byte
		want   id.Invoice
	}{
		{pgtype.BinaryFormatCode, want[:], want},
		{pgtype.BinaryFormatCode, nil, id.Invoice{}},
		{pgtype.TextFormatCode, []byte(want.String()), want},
		{pgtype.TextFormatCode, nil, id.Invoice{}},
	} {
		got, pointer := id.New[id.Invoice](), new(id.Invoice)
		if err := types.Scan(pgtype.UUIDOID, c.format, c.src, &got); err != nil || got != c.want {
			t.Errorf("%x in format %d is %s, %v", c.src, c.format, got, err)
		}
		if err := types.Scan(pgtype.UUIDOID, c.format, c.src, &pointer); err != nil ||
			(pointer == nil) != (c.src == nil) || pointer != nil && *pointer != c.want {
			t.Errorf("%x in format %d for a pointer is %v, %v", c.src, c.format, pointer, err)
		}
	}
	for _, src := range [][]byte{{}, want[:15], append(want[:], 1)} {
		got := want
		if err := types.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, src, &got); err == nil {
			t.Errorf("%d octets are read as %s", len(src), got)
		}
	}
	var plain uuid.UUID
	if err := types.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, want[:], &plain); err != nil || plain != want.UUID() {
		t.Errorf("a UUID is %s, %v", plain, err)
	}
	var list []id.Invoice
	octets, err := types.Encode(pgtype.UUIDArrayOID, pgtype.BinaryFormatCode, []id.Invoice{want, want}, nil)
	if err == nil {
		err = types.Scan(pgtype.UUIDArrayOID, pgtype.BinaryFormatCode, octets, &list)
	}
	if err != nil || len(list) != 2 || list[1] != want {
		t.Errorf("a list is %v, %v", list, err)
	}
}

// BenchmarkIDs encodes and reads an id, by pgx and here.
func BenchmarkIDs(b *testing.B) {
	theirs, ours := pgtype.NewMap(), pgtype.NewMap()
	readIDsAsOctets(ours)
	invoice := id.New[id.Invoice]()
	for name, types := range map[string]*pgtype.Map{"pgx": theirs, "octets": ours} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			var got id.Invoice
			for b.Loop() {
				var err error
				if buf, err = types.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, invoice, buf[:0]); err == nil {
					err = types.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, buf, &got)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
