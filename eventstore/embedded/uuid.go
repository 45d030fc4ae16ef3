package embedded

import (
	"encoding/binary"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/uuid"
)

// parseUUID reads an id in either of the protocol's forms. A missing, malformed or empty one is refused.
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

// halves are the two big-endian halves of an id, as the structured form carries them.
func halves(id uuid.UUID) (most, least uint64) {
	return binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
}

// structured puts an id into the protocol's structured form.
func structured(id uuid.UUID) *shared.UUID {
	most, least := halves(id)
	return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
		MostSignificantBits: int64(most), LeastSignificantBits: int64(least),
	}}}
}
