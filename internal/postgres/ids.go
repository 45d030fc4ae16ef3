package postgres

import (
	"database/sql"
	"fmt"
	"reflect"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// identifier is an id of the program (internal/id), whose zero value is null in SQL.
type identifier interface {
	UUID() uuid.UUID
	IsZero() bool
}

// idSize is the number of octets of an id.
const idSize = len(uuid.UUID{})

// ids encodes ids as their octets and reads them so. pgx would make a text of each, in both directions.
type ids struct{ pgtype.UUIDCodec }

// PlanEncode implements pgtype.Codec.
func (c ids) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode && reflect.TypeOf(value).Kind() == reflect.Array {
		switch value.(type) {
		case identifier:
			return idPlan{}
		case uuid.UUID:
			return uuidPlan{}
		}
	}
	return c.UUIDCodec.PlanEncode(m, oid, format, value)
}

// PlanScan implements pgtype.Codec.
func (c ids) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	_, is := target.(identifier)
	_, scans := target.(sql.Scanner)
	if is && scans && format == pgtype.BinaryFormatCode && reflect.TypeOf(target).Elem().Kind() == reflect.Array {
		return idScan{}
	}
	return c.UUIDCodec.PlanScan(m, oid, format, target)
}

// idPlan encodes an identifier.
type idPlan struct{}

// Encode implements pgtype.EncodePlan.
func (idPlan) Encode(value any, buf []byte) ([]byte, error) {
	i, _ := value.(identifier)
	if i.IsZero() {
		return nil, nil
	}
	octets := i.UUID()
	return append(buf, octets[:]...), nil
}

// uuidPlan encodes a UUID, of which also the zero one is a value.
type uuidPlan struct{}

// Encode implements pgtype.EncodePlan.
func (uuidPlan) Encode(value any, buf []byte) ([]byte, error) {
	octets, _ := value.(uuid.UUID)
	return append(buf, octets[:]...), nil
}

// idScan reads an identifier.
type idScan struct{}

// Scan implements pgtype.ScanPlan.
func (idScan) Scan(src []byte, target any) error {
	scanner, _ := target.(sql.Scanner)
	switch len(src) {
	case idSize:
		return scanner.Scan([idSize]byte(src))
	case 0:
		if src == nil {
			return scanner.Scan(nil)
		}
	}
	return fmt.Errorf("an id of %d octets", len(src))
}

// readIDsAsOctets makes a connection encode and read ids that way.
func readIDsAsOctets(types *pgtype.Map) {
	types.RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: ids{}})
	types.RegisterType(&pgtype.Type{
		Name: "_uuid", OID: pgtype.UUIDArrayOID,
		Codec: &pgtype.ArrayCodec{ElementType: &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: ids{}}},
	})
}
