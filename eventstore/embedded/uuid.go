package embedded

import (
	"encoding/binary"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/uuid"
)

// parseUUID reads an id in either form of the protocol. It refuses a missing, malformed or zero id.
func parseUUID(id *shared.UUID) (uuid.UUID, error) {
	var out uuid.UUID
	switch v := id.GetValue().(type) {
	case *shared.UUID_Structured_:
		binary.BigEndian.PutUint64(out[:8], uint64(v.Structured.GetMostSignificantBits()))
		binary.BigEndian.PutUint64(out[8:], uint64(v.Structured.GetLeastSignificantBits()))
	case *shared.UUID_String_:
		parsed, err := uuid.Parse(v.String_)
		if err != nil {
			return out, invalidArgument("an id is not a UUID")
		}
		out = parsed
	}
	if out == uuid.Nil {
		return out, invalidArgument("an id is empty")
	}
	return out, nil
}

// halves splits an id into two big-endian numbers, as the structured form has them.
func halves(id uuid.UUID) (most, least uint64) {
	return binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
}

// structured converts an id to the structured form of the protocol.
func structured(id uuid.UUID) *shared.UUID {
	most, least := halves(id)
	return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
		MostSignificantBits: int64(most), LeastSignificantBits: int64(least),
	}}}
}
