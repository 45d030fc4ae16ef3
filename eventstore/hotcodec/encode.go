package hotcodec

import "google.golang.org/protobuf/encoding/protowire"

// AppendSize begins a field that has so many bytes.
func AppendSize(b []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(size))
}

// sizeHalves is the number of bytes of an id of two halves, without what announces it.
func sizeHalves(most, least uint64) int {
	return 2 + protowire.SizeVarint(most) + protowire.SizeVarint(least)
}

// SizeID is the number of bytes that AppendID adds.
func SizeID(most, least uint64) int {
	return 1 + protowire.SizeBytes(1+protowire.SizeBytes(sizeHalves(most, least)))
}

// AppendID adds an id in the form of the protocol that the client uses.
func AppendID(b []byte, field protowire.Number, most, least uint64) []byte {
	size := sizeHalves(most, least)
	b = AppendSize(b, field, 1+protowire.SizeBytes(size))
	b = AppendSize(b, 1, size)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), most)
	return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), least)
}

// sizeOfEntry is the number of bytes of an entry of a map, without what announces it.
func sizeOfEntry(key, value string) int {
	return 2 + protowire.SizeBytes(len(key)) + protowire.SizeBytes(len(value))
}

// SizeEntry is the number of bytes that AppendEntry adds.
func SizeEntry(key, value string) int { return 1 + protowire.SizeBytes(sizeOfEntry(key, value)) }

// AppendEntry adds an entry of the map that has the type of an event.
func AppendEntry(b []byte, field protowire.Number, key, value string) []byte {
	b = AppendSize(b, field, sizeOfEntry(key, value))
	b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), key)
	return protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), value)
}
