package embedded

import (
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

// Offsets in a record of the table of events, as migrations/0005_records.sql describes it. Numbers have their most
// significant byte first.
const (
	storedTypeBytes     = 0 // two bytes; the first bit says that the data is JSON
	storedID            = 2
	storedCreated       = 18
	storedPosition      = 26
	storedStream        = 32
	storedRevision      = 38
	storedMetadataBytes = 44 // three bytes: an append has no more than maxRecordBytes
	storedType          = 47 // followed by the metadata and the data
)

// storedJSON is set in the number of bytes of the type, which are 1,024 at most (storable).
const storedJSON = 1 << 15

// storedPlaces are the bits of a position, of the number of a stream and of a revision. A tombstone's revision has all
// of them.
const storedPlaces = 1<<48 - 1

// storedSize is the number of bytes that appendStored appends.
func (r *record) storedSize() int { return storedType + len(r.kind) + len(r.metadata) + len(r.data) }

// appendStored appends the record as the table has it.
func (r *record) appendStored(b []byte) []byte {
	kinds := uint16(len(r.kind))
	if r.isJSON {
		kinds |= storedJSON
	}
	b = append(binary.BigEndian.AppendUint16(b, kinds), r.id[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.created))
	for _, place := range [...]int64{r.position, r.streamID, r.revision} {
		b = binary.BigEndian.AppendUint16(b, uint16(place>>32))
		b = binary.BigEndian.AppendUint32(b, uint32(place))
	}
	metas := uint32(len(r.metadata))
	b = binary.BigEndian.AppendUint16(append(b, byte(metas>>16)), uint16(metas))
	return append(append(append(b, r.kind...), r.metadata...), r.data...)
}

// errMalformedRecord is the fault of a row that no node has written.
var errMalformedRecord = errors.New("a record of the event store is malformed")

// parseStored reads what is stored, but for the stream's name. The type, the metadata and the data are parts of it, and
// are not put into the record.
func (r *record) parseStored(stored []byte) (kind, metadata, data []byte, err error) {
	if len(stored) < storedType {
		return nil, nil, nil, errMalformedRecord
	}
	wide := func(at int) int64 { return int64(binary.BigEndian.Uint64(stored[at:])) }
	place := func(at int) int64 { return wide(at-2) & storedPlaces }
	kinds := binary.BigEndian.Uint16(stored[storedTypeBytes:])
	r.isJSON = kinds&storedJSON != 0
	r.id = uuid.UUID(stored[storedID:storedCreated])
	r.created, r.position, r.streamID = wide(storedCreated), place(storedPosition), place(storedStream)
	if r.revision = place(storedRevision); r.revision == storedPlaces {
		r.revision = tombstoneRevision
	}
	cut := storedType + int(kinds&^storedJSON)
	end := cut + int(binary.BigEndian.Uint32(stored[storedMetadataBytes-1:])&(1<<24-1))
	if end > len(stored) {
		return nil, nil, nil, errMalformedRecord
	}
	return stored[storedType:cut], stored[cut:end], stored[end:], nil
}
