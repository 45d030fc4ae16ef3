package embedded

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// rawRows are rows as PostgreSQL sends them in its binary form. Calls that a page does not need panic.
type rawRows struct {
	pgx.Rows
	list   [][][]byte
	next   int
	closed bool
}

func (r *rawRows) Next() bool                                 { r.next++; return r.next <= len(r.list) }
func (r *rawRows) RawValues() [][]byte                        { return r.list[r.next-1] }
func (r *rawRows) Err() error                                 { return nil }
func (r *rawRows) Close()                                     { r.closed = true }
func (*rawRows) FieldDescriptions() []pgconn.FieldDescription { return binaryFields[:] }

// binaryFields describe the columns of a row.
var binaryFields = func() (all [3]pgconn.FieldDescription) {
	for i := range all {
		all[i].Format = pgx.BinaryFormatCode
	}
	return all
}()

// number is a number as PostgreSQL sends it.
func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// rawRecord is the row of a record.
func rawRecord(r record) [][]byte {
	return [][]byte{r.appendStored(nil), number(int64(r.size())), []byte(r.stream)}
}

// FuzzScanPage checks that a page has the rows as they were stored, each apart from the others in memory, that it ends
// at one without a body, whose size it tells if it is the first, and that it says whether there may be more.
func FuzzScanPage(f *testing.F) {
	f.Add("account-1 billing.InvoiceIssued.v1", []byte(`{"at":1}{"n":2}`), int64(7), uint16(3<<8|5), 400)
	f.Add("", []byte{}, int64(-1), uint16(0), 0)
	f.Add("$links $>", []byte("3@account-1"), int64(1<<62), uint16(40<<8|40), 1)
	f.Add("account-1 e", []byte(`{"at":1}{"n":2}`), int64(1), uint16(40<<8|40), 1<<20)
	f.Fuzz(func(t *testing.T, names string, content []byte, number int64, counts uint16, most int) {
		stream, kind, _ := strings.Cut(names, " ")
		kind = kind[:min(len(kind), maxNameBytes)]
		if number &= math.MaxInt64; number >= storedPlaces { // as a stream has them
			number = tombstoneRevision
		}
		metadata, data := content[:len(content)/2], content[len(content)/2:]
		rows, limit := min(int(counts>>8), 50), min(int(counts&0xff), 50)
		stored := &rawRows{}
		var want []record
		total, cut := 0, false
		for i := range min(rows, limit) { // as the statement's limits give them
			r := record{
				position: int64(i + 1), revision: number, streamID: number % storedPlaces, stream: stream, kind: kind,
				id: uuid.NewSHA1(uuid.Nil, data), isJSON: i%2 == 0, created: ^number, metadata: metadata,
				data: append(bytes.Clone(data), byte(i)),
			}
			raw := rawRecord(r)
			if total += r.size(); total > most {
				raw[0], cut = nil, true
				stored.list = append(stored.list, raw)
				break
			}
			want, stored.list = append(want, r), append(stored.list, raw)
		}
		p, err := scanPage(stored, extent{rows: limit, bytes: most})
		if err != nil || !stored.closed || len(p.rows) != len(want) {
			t.Fatalf("%d of %d rows, %v, closed %v", len(p.rows), len(want), err, stored.closed)
		}
		if large := cut && len(want) == 0; large != (p.large > 0) || large && p.large != total {
			t.Fatalf("an event of %d bytes, of which %d are free, is reported with %d", total, most, p.large)
		}
		for i, r := range p.rows {
			_ = append(r.metadata, "must not reach the data"...)
			_ = append(r.data, "must not reach the next event"...)
			w := want[i]
			if r.position != w.position || r.revision != w.revision || r.stream != w.stream || r.kind != w.kind ||
				r.id != w.id || r.streamID != w.streamID || r.isJSON != w.isJSON || r.created != w.created ||
				!bytes.Equal(r.metadata, w.metadata) || !bytes.Equal(r.data, w.data) {
				t.Fatalf("row %d is %+v, stored was %+v", i, r, w)
			}
		}
		if p.more != (cut || len(want) == limit) {
			t.Fatalf("%d rows, limit %d, cut %v, more %v", len(p.rows), limit, cut, p.more)
		}
	})
}

// FuzzStored checks that a record of any bytes is taken apart without a panic, into parts that make the same bytes.
func FuzzStored(f *testing.F) {
	whole := record{position: 7, revision: 3, streamID: 1 << 40, kind: "e", isJSON: true, data: []byte("{}")}
	f.Add(whole.appendStored(nil))
	f.Add(bytes.Repeat([]byte{0xff}, 1<<16))
	f.Add(make([]byte, storedType))
	f.Fuzz(func(t *testing.T, stored []byte) {
		var r record
		kind, metadata, data, err := r.parseStored(stored)
		if err != nil {
			return
		}
		r.kind, r.metadata, r.data = string(kind), metadata, data
		if again := r.appendStored(nil); !bytes.Equal(again, stored) || len(again) != r.storedSize() {
			t.Fatalf("%x becomes %x", stored, again)
		}
	})
}
