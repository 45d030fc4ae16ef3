package subscriberscases

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// manyValues is a file of rows that are wrong: each has a cell of a column that is as long as a cell may be, with
// values that no other row has.
func manyValues(column string, rows int) string {
	var b strings.Builder
	b.WriteString("firstName,phone," + column + "\n")
	n := 60_466_176 / 36 // of five characters from here on
	for row := range rows {
		b.WriteString("A,+2547" + strconv.Itoa(10_000_000+row) + ",")
		for cell := 0; cell+6 <= 9_990; cell += 6 {
			if cell > 0 {
				b.WriteByte('|')
			}
			b.WriteString(strconv.FormatInt(int64(n), 36))
			n++
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestImport_ARowOfManyValuesCostsLittle and leaves nothing: such a row is refused. It is not parallel, since the
// memory is counted for the whole program.
func TestImport_ARowOfManyValuesCostsLittle(t *testing.T) {
	const rows = 400
	for _, column := range []string{colAliases, colTags, colMACs} {
		file := manyValues(column, rows)
		h := hereNow{taken: map[string]subscribersviews.TakenRow{}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, _ := h.check(t, id.Derive[id.Import]("test", "bounds"), file)
		runtime.ReadMemStats(&after)
		refused := func(f events.ImportFault) bool { return f.Field == column && strings.HasPrefix(f.Message, "must ") }
		if out.Failed != rows || !slices.ContainsFunc(out.Faults, refused) {
			t.Errorf("%s: %d failed, %+v", column, out.Failed, out.Faults[0])
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*uint64(len(file)) {
			t.Errorf("%s: %d KiB for a file of %d", column, took>>10, len(file)>>10)
		}
	}
}

// TestImport_OnlyRowsWithoutFaultsTakeTheirValues from those that follow.
func TestImport_OnlyRowsWithoutFaultsTakeTheirValues(t *testing.T) {
	t.Parallel()
	h := hereNow{taken: map[string]subscribersviews.TakenRow{}}
	out, stored := h.check(t, id.Derive[id.Import]("test", "bounds"), "firstName,phone,accountAliases\n"+
		"A,none,a1\nB,0711000002,a1\nC,0711000003,A-1\n")
	if fmt.Sprint(stored) != "[3]" || out.Failed != 2 || out.Faults[1].Message != "is also in row 3" {
		t.Errorf("stored %v, %+v", stored, out.Faults)
	}
}

// TestList_HasEachValueOnceAndOneTooManyAtMost so that what is refused is known to be too much.
func TestList_HasEachValueOnceAndOneTooManyAtMost(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"": "[]", " a | |b|": "[a b]", "a|A|b|a|c": "[a b c]", "a|b|c|d|e|f": "[a b c d]",
	} {
		if got := fmt.Sprint(list(cell, strings.ToLower, 3)); got != want {
			t.Errorf("%q: %s, want %s", cell, got, want)
		}
	}
}

// TestImport_ACheckEndsWithItsRequest, not with its file: nobody waits for the answer.
func TestImport_ACheckEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	table, err := sheet.Open([]byte(manyValues(colAliases, 3)))
	if err != nil {
		t.Fatal(err)
	}
	layout, _ := layoutOf(table.Header, "")
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(gone)
	b := blockTaker{out: &CheckedImport{}, reader: rowReader{layout: layout, currency: "KES"}, seen: map[string]int{}}
	if err := b.all(ctx, table); !errors.Is(err, gone) || b.out.Rows != 0 {
		t.Errorf("%d rows, %v", b.out.Rows, err)
	}
}
