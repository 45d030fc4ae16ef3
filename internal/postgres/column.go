package postgres

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// elementType is a type whose values can be gathered into an array.
type elementType struct {
	name  string
	array uint32
	// likeText says that a value is the same octets in both formats, after a number of the version for jsonb.
	likeText bool
	version  []byte
}

// elementTypes are the types that are gathered; the others are not, be it that nobody uses them.
var elementTypes = map[uint32]elementType{
	pgtype.BoolOID:        {name: "bool", array: pgtype.BoolArrayOID},
	pgtype.ByteaOID:       {name: "bytea", array: pgtype.ByteaArrayOID},
	pgtype.DateOID:        {name: "date", array: pgtype.DateArrayOID},
	pgtype.Float4OID:      {name: "float4", array: pgtype.Float4ArrayOID},
	pgtype.Float8OID:      {name: "float8", array: pgtype.Float8ArrayOID},
	pgtype.InetOID:        {name: "inet", array: pgtype.InetArrayOID},
	pgtype.Int2OID:        {name: "int2", array: pgtype.Int2ArrayOID},
	pgtype.Int4OID:        {name: "int4", array: pgtype.Int4ArrayOID},
	pgtype.Int8OID:        {name: "int8", array: pgtype.Int8ArrayOID},
	pgtype.JSONBOID:       {name: "jsonb", array: pgtype.JSONBArrayOID, likeText: true, version: []byte{1}},
	pgtype.JSONOID:        {name: "json", array: pgtype.JSONArrayOID, likeText: true},
	pgtype.NumericOID:     {name: "numeric", array: pgtype.NumericArrayOID},
	pgtype.TextOID:        {name: "text", array: pgtype.TextArrayOID, likeText: true},
	pgtype.TimestampOID:   {name: "timestamp", array: pgtype.TimestampArrayOID},
	pgtype.TimestamptzOID: {name: "timestamptz", array: pgtype.TimestamptzArrayOID},
	pgtype.UUIDOID:        {name: "uuid", array: pgtype.UUIDArrayOID},
	pgtype.VarcharOID:     {name: "varchar", array: pgtype.VarcharArrayOID, likeText: true},
}

// Column gathers the values that one parameter has in many executions of a statement, each encoded as pgx would send it
// alone. The server then reads the same octets as elements of one array.
type Column struct {
	oid  uint32
	of   elementType
	size int // elements
	null bool
	buf  []byte // of the binary array; its header is filled in at the end
	room int    // octets of the last array
}

// NewColumn makes a column for a parameter of a type; ok is not set where values of the type are not gathered.
func NewColumn(oid uint32) (c *Column, ok bool) {
	of, ok := elementTypes[oid]
	return &Column{oid: oid, of: of}, ok
}

// Type names the type of the elements.
func (c *Column) Type() string { return c.of.name }

// AppendElement encodes a value as an element, with its size before it. It fails for a value that cannot be encoded,
// and for one that pgx sends in a form that no array of octets has.
func (c *Column) AppendElement(types *pgtype.Map, value any, buf []byte) ([]byte, error) {
	format := types.FormatCodeForOID(c.oid)
	switch value.(type) {
	case string, *string:
		format = pgtype.TextFormatCode
	}
	at := len(buf)
	buf = append(buf, 0, 0, 0, 0)
	if format == pgtype.TextFormatCode {
		buf = append(buf, c.of.version...)
	}
	out, err := types.Encode(c.oid, format, value, buf)
	switch {
	case err != nil:
		return nil, fmt.Errorf("element of type %s: %w", c.of.name, err)
	case out == nil:
		return append(buf[:at], 0xff, 0xff, 0xff, 0xff), nil
	case format == pgtype.TextFormatCode && !c.of.likeText:
		return nil, fmt.Errorf("element of type %s is sent as a text", c.of.name)
	}
	binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-elementExtra)) //nolint:gosec // fits
	return out, nil
}

// Add adds an element that AppendElement has encoded.
func (c *Column) Add(element []byte) {
	if c.buf == nil {
		c.buf = make([]byte, arrayHeader, max(c.room+c.room/16, arrayHeader+64*len(element)))
	}
	c.null = c.null || element[0] == 0xff
	c.buf = append(c.buf, element...)
	c.size++
}

// Array gives the elements as the argument of one statement. Reset comes after it.
func (c *Column) Array() Encoded {
	null := uint32(0)
	if c.null {
		null = 1
	}
	for i, n := range []uint32{1, null, c.oid, uint32(c.size), 1} { //nolint:gosec // fits
		binary.BigEndian.PutUint32(c.buf[4*i:], n)
	}
	return c.buf
}

// Reset begins anew. What Array has given stays as it is.
func (c *Column) Reset() {
	if c.buf != nil {
		c.size, c.null, c.buf, c.room = 0, false, nil, len(c.buf)
	}
}

// Encoded is an array in PostgreSQL's binary form, which the connections of this package send as it is.
type Encoded []byte

// encodedPlan sends an Encoded.
type encodedPlan struct{}

// Encode implements pgtype.EncodePlan.
func (encodedPlan) Encode(value any, buf []byte) ([]byte, error) {
	array, _ := value.(Encoded)
	return append(buf, array...), nil
}
