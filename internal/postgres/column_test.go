package postgres_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// day is a date.
var day = time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)

// columnValues are values for a parameter of each type, in the forms that Go has of them.
var columnValues = map[string][]any{
	"bool":        {true, nil, false},
	"bytea":       {[]byte{0, 0xff}, []byte{}, []byte(nil), nil},
	"date":        {day, nil, pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true}},
	"float8":      {1.5, math.Inf(1), math.NaN(), nil},
	"int2":        {int16(-1), 7, nil},
	"int4":        {int32(-1), math.MaxInt32, nil},
	"int8":        {int64(-1), math.MaxInt64, nil, (*int64)(nil)},
	"json":        {[]byte(`{"b": 1,  "a":2}`), "[1]", map[string]int{"x": 1}, []string{"a"}, nil, []byte("null")},
	"jsonb":       {[]byte(`{"b": 1,  "a":2}`), "[1]", map[string]int{"x": 1}, []string{`"`}, nil, []byte("null")},
	"numeric":     {1, int64(7), 2.25, nil},
	"text":        {"", "a\n\"'\\{},ü", new(string), (*string)(nil), nil, []byte("octets"), uuid.Max},
	"timestamptz": {time.Unix(1, 5000), time.Now().In(time.FixedZone("", 3600)), nil, pgtype.Timestamptz{}},
	"uuid":        {uuid.Max, [16]byte{1}, nil, uuid.NullUUID{}, []byte(strings.Repeat("x", 16))},
	"varchar":     {"", "abc", nil},
}

func TestColumn_TheServerReadsEachValueAsItDoesAlone(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for name, values := range columnValues {
		conn, err := db.Owner.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		types := conn.Conn().TypeMap()
		of, _ := types.TypeForName(name)
		c, ok := postgres.NewColumn(of.OID)
		if !ok || c.Type() != name {
			t.Fatalf("%s is not gathered", name)
		}
		var alone []*string
		for _, value := range values {
			var text *string
			if err := conn.QueryRow(t.Context(), `select $1::`+name+`::text`, value).Scan(&text); err != nil {
				t.Fatalf("%s %v: %v", name, value, err)
			}
			alone = append(alone, text)
			element, err := c.AppendElement(types, value, []byte("before"))
			if err != nil || !bytes.HasPrefix(element, []byte("before")) {
				t.Fatalf("%s %v: %v", name, value, err)
			}
			c.Add(element[len("before"):])
		}
		array, same := c.Array(), false
		c.Reset()
		err = conn.QueryRow(t.Context(), `
			select array(select e::text from unnest($1::`+name+`[]) e) is not distinct from $2`,
			array, alone).Scan(&same)
		conn.Release()
		if err != nil || !same {
			t.Errorf("%s: the elements are not %v, %v", name, values, err)
		}
	}
}

// TestColumn_IsTheArrayThatPgxSends compares octets, among them those that the server does not look at.
func TestColumn_IsTheArrayThatPgxSends(t *testing.T) {
	t.Parallel()
	types, text := pgtype.NewMap(), "a"
	for _, list := range [][]*string{{&text, &text}, {&text, nil, &text}} {
		c, _ := postgres.NewColumn(pgtype.TextOID)
		for _, value := range list {
			element, err := c.AppendElement(types, value, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Add(element)
		}
		want, err := types.Encode(pgtype.TextArrayOID, pgtype.BinaryFormatCode, list, nil)
		if got := c.Array(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%x, want %x, %v", got, want, err)
		}
	}
}

func TestColumn_RefusesWhatIsSentInAnotherForm(t *testing.T) {
	t.Parallel()
	types := pgtype.NewMap()
	for oid, value := range map[uint32]any{
		pgtype.UUIDOID: uuid.Max.String(), pgtype.Int8OID: "1", pgtype.DateOID: "2026-02-28",
		pgtype.TextOID: make(chan int), pgtype.TimestamptzOID: "now", pgtype.NumericOID: "1.50",
		pgtype.BoolOID: struct{}{},
	} {
		c, ok := postgres.NewColumn(oid)
		if !ok {
			t.Fatalf("type %d is not gathered", oid)
		}
		if _, err := c.AppendElement(types, value, nil); err == nil {
			t.Errorf("%v is taken as %s", value, c.Type())
		}
	}
	for _, oid := range []uint32{pgtype.TextArrayOID, pgtype.UUIDArrayOID, pgtype.PointOID, pgtype.BPCharOID, 70000} {
		if _, ok := postgres.NewColumn(oid); ok {
			t.Errorf("type %d is gathered", oid)
		}
	}
}
