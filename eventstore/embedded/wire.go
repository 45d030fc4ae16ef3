package embedded

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// Field numbers of streams.proto and shared.proto that the encoder needs.
const (
	fieldRespEvent = 1

	fieldEventEvent    = 1
	fieldEventLink     = 2
	fieldEventPosition = 3

	fieldRecordedID       = 1
	fieldRecordedStream   = 2
	fieldRecordedRevision = 3
	fieldRecordedPrepare  = 4
	fieldRecordedCommit   = 5
	fieldRecordedMetadata = 6
	fieldRecordedCustom   = 7
	fieldRecordedData     = 8

	fieldStreamName = 3
	fieldUUIDString = 2
)

// eventEncoder writes ReadResp messages with an event.
type eventEncoder struct{ stringIDs bool }

// eventMessage is a message with an event, with the sizes of its parts.
type eventMessage struct {
	event, link                *record // link is the one that was followed, or nil; a nil event cannot be resolved
	position                   uint64
	eventBytes, linkBytes, all int
}

// measure finds out the sizes of a message. A link that is too large to be sent with its event is not resolved.
func (e eventEncoder) measure(event, link *record) (m eventMessage) {
	if m = e.measureAll(event, link); m.size() > maxMessageBytes && event != nil && link != nil {
		return e.measureAll(nil, link)
	}
	return m
}

// measureAll finds out the sizes of a message of any size.
func (e eventEncoder) measureAll(event, link *record) (m eventMessage) {
	m.event, m.link = event, link
	if event != nil {
		m.eventBytes, m.position = e.recordedSize(event), uint64(event.position)
		m.all += 1 + protowire.SizeBytes(m.eventBytes)
	}
	if link != nil {
		m.linkBytes, m.position = e.recordedSize(link), uint64(link.position)
		m.all += 1 + protowire.SizeBytes(m.linkBytes)
	}
	m.all += 1 + protowire.SizeVarint(m.position)
	return m
}

// size is the number of bytes that encode appends.
func (m *eventMessage) size() int { return 1 + protowire.SizeBytes(m.all) }

// encode appends a message to b.
func (e eventEncoder) encode(b []byte, m *eventMessage) []byte {
	b = protowire.AppendTag(b, fieldRespEvent, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(m.all))
	if m.event != nil {
		b = protowire.AppendTag(b, fieldEventEvent, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(m.eventBytes))
		b = e.recorded(b, m.event)
	}
	if m.link != nil {
		b = protowire.AppendTag(b, fieldEventLink, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(m.linkBytes))
		b = e.recorded(b, m.link)
	}
	b = protowire.AppendTag(b, fieldEventPosition, protowire.VarintType)
	return protowire.AppendVarint(b, m.position)
}

// recordedSize is the number of bytes that recorded appends. All its tags take one byte.
func (e eventEncoder) recordedSize(r *record) int {
	contentType := octetStream
	if r.isJSON {
		contentType = jsonType
	}
	id := 2 + 36
	if !e.stringIDs {
		most, least := halves(r.id)
		id = 4 + protowire.SizeVarint(most) + protowire.SizeVarint(least)
	}
	return 1 + protowire.SizeBytes(id) +
		1 + protowire.SizeBytes(1+protowire.SizeBytes(len(r.stream))) +
		3 + protowire.SizeVarint(uint64(r.revision)) + 2*protowire.SizeVarint(uint64(r.position)) +
		mapEntrySize("type", len(r.kind)) + mapEntrySize("content-type", len(contentType)) +
		mapEntrySize("created", digits(r.created)) +
		1 + protowire.SizeBytes(len(r.metadata)) + 1 + protowire.SizeBytes(len(r.data))
}

// mapEntrySize is the number of bytes that mapEntry appends.
func mapEntrySize(key string, value int) int {
	return 1 + protowire.SizeBytes(2+protowire.SizeBytes(len(key))+protowire.SizeBytes(value))
}

// digits is the length of a number in decimal, with its sign.
func digits(n int64) (length int) {
	if n < 0 {
		length++
	}
	for length++; n <= -10 || n >= 10; length++ {
		n /= 10
	}
	return length
}

// The content types of the protocol.
const (
	octetStream = "application/octet-stream"
	jsonType    = "application/json"
)

// recorded appends the fields of a RecordedEvent, without its tag and length.
func (e eventEncoder) recorded(b []byte, r *record) []byte {
	b = e.id(b, r)
	b = protowire.AppendTag(b, fieldRecordedStream, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(1+protowire.SizeBytes(len(r.stream))))
	b = protowire.AppendTag(b, fieldStreamName, protowire.BytesType)
	b = protowire.AppendString(b, r.stream)
	b = protowire.AppendTag(b, fieldRecordedRevision, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(r.revision))
	b = protowire.AppendTag(b, fieldRecordedPrepare, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(r.position))
	b = protowire.AppendTag(b, fieldRecordedCommit, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(r.position))
	contentType := octetStream
	if r.isJSON {
		contentType = jsonType
	}
	b = hotcodec.AppendEntry(b, fieldRecordedMetadata, "type", r.kind)
	b = hotcodec.AppendEntry(b, fieldRecordedMetadata, "content-type", contentType)
	var digits [20]byte
	b = hotcodec.AppendEntry(b, fieldRecordedMetadata, "created",
		string(strconv.AppendInt(digits[:0], r.created, 10)))
	b = protowire.AppendTag(b, fieldRecordedCustom, protowire.BytesType)
	b = protowire.AppendBytes(b, r.metadata)
	b = protowire.AppendTag(b, fieldRecordedData, protowire.BytesType)
	return protowire.AppendBytes(b, r.data)
}

// id appends the event id in the form that the client asked for.
func (e eventEncoder) id(b []byte, r *record) []byte {
	if e.stringIDs {
		b = hotcodec.AppendSize(b, fieldRecordedID, 2+36)
		b = protowire.AppendTag(b, fieldUUIDString, protowire.BytesType)
		return protowire.AppendString(b, r.id.String())
	}
	most, least := halves(r.id)
	return hotcodec.AppendID(b, fieldRecordedID, most, least)
}

// Field numbers of the answer to a batched append.
const (
	fieldAnswerID       = 1
	fieldAnswerSuccess  = 3
	fieldAnswerStream   = 4
	fieldAnswerRevision = 5
	fieldAnswerNone     = 6

	fieldSuccessRevision = 1
	fieldSuccessPosition = 3
)

// storedAnswer encodes the answer that a batched append is stored, for the usual form of append; nil for others.
func storedAnswer(b *batch, o outcome) hotcodec.Frame {
	stream := b.goal.stream
	if b.stringID || o.current < 0 || stream == "" {
		return nil
	}
	f := make(hotcodec.Frame, 0, 96+len(stream))
	most, least := halves(b.correlation)
	f = hotcodec.AppendID(f, fieldAnswerID, most, least)
	position, revision := uint64(o.position), uint64(o.current)
	place := 2 * (1 + protowire.SizeVarint(position))
	f = hotcodec.AppendSize(f, fieldAnswerSuccess, 1+protowire.SizeVarint(revision)+1+protowire.SizeBytes(place))
	f = protowire.AppendVarint(protowire.AppendTag(f, fieldSuccessRevision, protowire.VarintType), revision)
	f = hotcodec.AppendSize(f, fieldSuccessPosition, place)
	f = protowire.AppendVarint(protowire.AppendTag(f, 1, protowire.VarintType), position)
	f = protowire.AppendVarint(protowire.AppendTag(f, 2, protowire.VarintType), position)
	f = hotcodec.AppendSize(f, fieldAnswerStream, 1+protowire.SizeBytes(len(stream)))
	f = protowire.AppendString(protowire.AppendTag(f, fieldStreamName, protowire.BytesType), stream)
	switch b.goal.expected {
	case expectNoStream:
		f = hotcodec.AppendSize(f, fieldAnswerNone, 0)
	case expectAny, expectExists: // seldom
		return nil
	default:
		f = protowire.AppendVarint(protowire.AppendTag(f, fieldAnswerRevision, protowire.VarintType), b.goal.position)
	}
	return f
}
