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

// patientUntil is when the answer to an append is not waited for any more. The node drops the append when it has not
// committed it by then.
func patientUntil(ctx context.Context) time.Time {
	until := steady.Now().Add(appendPatience)
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		return end
	}
	return until
}

// left is the time until an instant of the steady clock; at least 0.
func left(until time.Time) time.Duration { return max(until.Sub(steady.Now()), 0) }

// steady counts as contexts do.
var steady = clock.Steady(clock.System())

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
	b := hotcodec.AppendID(make([]byte, 0, room), fieldCorrelation, uint64(correlation), 0)
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
	b = hotcodec.AppendSize(b, fieldOptions, size)
	b = hotcodec.AppendSize(b, fieldStream, name)
	b = protowire.AppendTag(b, fieldStreamName, protowire.BytesType)
	b = protowire.AppendString(b, stream)
	if expected >= 0 {
		b = protowire.AppendTag(b, fieldRevision, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(expected))
	} else {
		b = hotcodec.AppendSize(b, fieldNone, 0)
	}
	b = hotcodec.AppendSize(b, fieldDeadline, deadline)
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(patience/time.Second))
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(patience%time.Second))
}

// appendEvent adds an event.
func appendEvent(b []byte, e *catalog.Encoded) []byte {
	most, least := binary.BigEndian.Uint64(e.ID[:8]), binary.BigEndian.Uint64(e.ID[8:])
	size := hotcodec.SizeID(most, least) + hotcodec.SizeEntry("type", e.Type) +
		hotcodec.SizeEntry("content-type", "application/json") +
		1 + protowire.SizeBytes(len(e.Metadata)) + 1 + protowire.SizeBytes(len(e.Data))
	b = hotcodec.AppendSize(b, fieldProposed, size)
	b = hotcodec.AppendID(b, fieldID, most, least)
	b = hotcodec.AppendEntry(b, fieldKind, "type", e.Type)
	b = hotcodec.AppendEntry(b, fieldKind, "content-type", "application/json")
	b = protowire.AppendTag(b, fieldMetadata, protowire.BytesType)
	b = protowire.AppendBytes(b, e.Metadata)
	b = protowire.AppendTag(b, fieldData, protowire.BytesType)
	return protowire.AppendBytes(b, e.Data)
}
