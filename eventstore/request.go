package eventstore

import (
	"context"
	"encoding/binary"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// patience is how long the answer to an append is waited for. The node drops the append when it has not committed it by
// then.
func patience(ctx context.Context) time.Duration {
	left := appendPatience
	if until, ok := ctx.Deadline(); ok {
		left = min(left, until.Sub(clock.Steady(clock.System()).Now())) // as the context itself counts
	}
	return max(left, 0)
}

// Field numbers of streams.proto and shared.proto that a request has.
const (
	fieldCorrelation = 1
	fieldOptions     = 2
	fieldProposed    = 3
	fieldFinal       = 4

	fieldStream   = 1
	fieldRevision = 2
	fieldNone     = 3
	fieldDeadline = 7

	fieldID       = 1
	fieldKind     = 2
	fieldMetadata = 3
	fieldData     = 4

	fieldStreamName = 3
	fieldHalves     = 1
)

// eventRoom is more than what a request has of an event beside its type, data and metadata, in bytes.
const eventRoom = 128

// request encodes an append, which is one message of a BatchAppend call. The answer names its correlation.
func request(
	correlation int64, patience time.Duration, stream string, expected Expected, list []catalog.Encoded,
) hotcodec.Frame {
	room := eventRoom + len(stream)
	for _, e := range list {
		room += eventRoom + len(e.Type) + len(e.Data) + len(e.Metadata)
	}
	b := appendID(make([]byte, 0, room), fieldCorrelation, uint64(correlation), 0)
	b = appendOptions(b, patience, stream, expected)
	for i := range list {
		b = appendEvent(b, &list[i])
	}
	b = protowire.AppendTag(b, fieldFinal, protowire.VarintType)
	return protowire.AppendVarint(b, 1)
}

// appendOptions adds where the append wants to write.
func appendOptions(b []byte, patience time.Duration, stream string, expected Expected) []byte {
	name := 1 + protowire.SizeBytes(len(stream))
	deadline := 1 + protowire.SizeVarint(uint64(patience/time.Second)) +
		1 + protowire.SizeVarint(uint64(patience%time.Second))
	revision := 1 + protowire.SizeBytes(0)
	if expected >= 0 {
		revision = 1 + protowire.SizeVarint(uint64(expected))
	}
	size := 1 + protowire.SizeBytes(name) + revision + 1 + protowire.SizeBytes(deadline)
	b = appendSize(b, fieldOptions, size)
	b = appendSize(b, fieldStream, name)
	b = protowire.AppendTag(b, fieldStreamName, protowire.BytesType)
	b = protowire.AppendString(b, stream)
	if expected >= 0 {
		b = protowire.AppendTag(b, fieldRevision, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(expected))
	} else {
		b = appendSize(b, fieldNone, 0)
	}
	b = appendSize(b, fieldDeadline, deadline)
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(patience/time.Second))
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(patience%time.Second))
}

// appendEvent adds an event.
func appendEvent(b []byte, e *catalog.Encoded) []byte {
	most, least := binary.BigEndian.Uint64(e.ID[:8]), binary.BigEndian.Uint64(e.ID[8:])
	size := sizeID(most, least) + sizeEntry("type", e.Type) + sizeEntry("content-type", "application/json") +
		1 + protowire.SizeBytes(len(e.Metadata)) + 1 + protowire.SizeBytes(len(e.Data))
	b = appendSize(b, fieldProposed, size)
	b = appendID(b, fieldID, most, least)
	b = appendEntry(b, "type", e.Type)
	b = appendEntry(b, "content-type", "application/json")
	b = protowire.AppendTag(b, fieldMetadata, protowire.BytesType)
	b = protowire.AppendBytes(b, e.Metadata)
	b = protowire.AppendTag(b, fieldData, protowire.BytesType)
	return protowire.AppendBytes(b, e.Data)
}

// appendSize begins a field that has so many bytes.
func appendSize(b []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(size))
}

// sizeHalves is the number of bytes of an id of two halves, without what announces it.
func sizeHalves(most, least uint64) int {
	return 2 + protowire.SizeVarint(most) + protowire.SizeVarint(least)
}

// sizeID is the number of bytes that appendID adds.
func sizeID(most, least uint64) int {
	return 1 + protowire.SizeBytes(1+protowire.SizeBytes(sizeHalves(most, least)))
}

// appendID adds an id in the form of the protocol that the client uses.
func appendID(b []byte, field protowire.Number, most, least uint64) []byte {
	size := sizeHalves(most, least)
	b = appendSize(b, field, 1+protowire.SizeBytes(size))
	b = appendSize(b, fieldHalves, size)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), most)
	return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), least)
}

// sizeOfEntry is the number of bytes of an entry of a map, without what announces it.
func sizeOfEntry(key, value string) int {
	return 2 + protowire.SizeBytes(len(key)) + protowire.SizeBytes(len(value))
}

// sizeEntry is the number of bytes that appendEntry adds.
func sizeEntry(key, value string) int { return 1 + protowire.SizeBytes(sizeOfEntry(key, value)) }

// appendEntry adds an entry of the map that has the type of an event.
func appendEntry(b []byte, key, value string) []byte {
	b = appendSize(b, fieldKind, sizeOfEntry(key, value))
	b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), key)
	return protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), value)
}
