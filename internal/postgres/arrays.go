package postgres

import (
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// Octets of a binary array's header, and before each of its elements.
const (
	arrayHeader  = 20
	elementExtra = 4
)

// roomy encodes arrays as pgx does, but makes room for the whole array first where they are of texts or of octets.
// Otherwise the buffer grows by a quarter again and again, and a batch of rows costs ten times its size in memory. An
// Encoded it takes as it is.
type roomy struct{ *pgtype.ArrayCodec }

// PlanEncode implements pgtype.Codec.
func (c roomy) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(Encoded); ok && format == pgtype.BinaryFormatCode {
		return encodedPlan{}
	}
	plan := c.ArrayCodec.PlanEncode(m, oid, format, value)
	if plan == nil || format != pgtype.BinaryFormatCode {
		return plan
	}
	return roomyPlan{plan}
}

// roomyPlan is the plan of an array.
type roomyPlan struct{ pgtype.EncodePlan }

// Encode implements pgtype.EncodePlan.
func (p roomyPlan) Encode(value any, buf []byte) ([]byte, error) {
	return p.EncodePlan.Encode(value, slices.Grow(buf, arraySize(value)))
}

// arraySize is how many octets an array takes; 0 when its elements are of another type.
func arraySize(array any) int {
	switch list := array.(type) {
	case pgtype.FlatArray[string]:
		n := arrayHeader
		for _, e := range list {
			n += elementExtra + len(e)
		}
		return n
	case pgtype.FlatArray[*string]:
		n := arrayHeader
		for _, e := range list {
			n += elementExtra
			if e != nil {
				n += len(*e)
			}
		}
		return n
	case pgtype.FlatArray[[]byte]:
		n := arrayHeader
		for _, e := range list {
			n += elementExtra + len(e)
		}
		return n
	}
	return 0
}

// flatPlan gives the codec a list of a known type. pgx does so for texts; of others it gives one that is read with
// reflection, and their size would not be known.
type flatPlan[T any] struct{ next pgtype.EncodePlan }

// SetNext implements pgtype.WrappedEncodePlanNextSetter.
func (p *flatPlan[T]) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements pgtype.EncodePlan.
func (p *flatPlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	list, _ := value.([]T)
	return p.next.Encode(pgtype.FlatArray[T](list), buf)
}

// flatten is a pgtype.TryWrapEncodePlanFunc.
func flatten(value any) (plan pgtype.WrappedEncodePlanNextSetter, next any, ok bool) {
	switch list := value.(type) {
	case [][]byte:
		return &flatPlan[[]byte]{}, pgtype.FlatArray[[]byte](list), true
	case []*string:
		return &flatPlan[*string]{}, pgtype.FlatArray[*string](list), true
	}
	return nil, nil, false
}

// makeRoomForArrays makes a connection encode arrays that way.
func makeRoomForArrays(types *pgtype.Map) {
	types.TryWrapEncodePlanFuncs = slices.Insert(types.TryWrapEncodePlanFuncs, 0, flatten)
	for _, of := range elementTypes {
		if t, ok := types.TypeForOID(of.array); ok {
			if codec, ok := t.Codec.(*pgtype.ArrayCodec); ok {
				types.RegisterType(&pgtype.Type{Name: t.Name, OID: t.OID, Codec: roomy{codec}})
			}
		}
	}
}
