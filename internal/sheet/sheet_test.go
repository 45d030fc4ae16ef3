package sheet_test

import (
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// rowsOf reads a table; a row that cannot be read is told by its fault.
func rowsOf(t testing.TB, body []byte) (header []string, rows [][]string) {
	t.Helper()
	r, err := sheet.Open(body)
	if err != nil {
		t.Fatal(err)
	}
	for {
		cells, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, rows
		}
		if err != nil {
			cells = []string{err.Error()}
		}
		rows = append(rows, cells)
	}
}

// inUTF16 writes a text in UTF-16, with or without a mark.
func inUTF16(text string, order binary.AppendByteOrder, mark bool) []byte {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xFEFF)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestOpen_ReadsEveryUsualEncoding(t *testing.T) {
	t.Parallel()
	const text = "name,town\nZoë Müller,Nyíri 😀\n"
	for name, body := range map[string][]byte{
		"UTF-8":                 []byte(text),
		"UTF-8 with a mark":     []byte("\ufeff" + text),
		"UTF-16, little endian": inUTF16(text, binary.LittleEndian, true),
		"UTF-16, big endian":    inUTF16(text, binary.BigEndian, true),
		"UTF-16 without a mark": inUTF16(text, binary.LittleEndian, false),
	} {
		header, rows := rowsOf(t, body)
		if !cmp.Equal(header, []string{"name", "town"}) || !cmp.Equal(rows, [][]string{{"Zoë Müller", "Nyíri 😀"}}) {
			t.Errorf("%s: %q %q", name, header, rows)
		}
	}
	_, rows := rowsOf(t, []byte("name\nZo\xeb \x80 \x93x\x94\n"))
	if rows[0][0] != "Zoë € “x”" {
		t.Errorf("Windows-1252: %q", rows)
	}
}

func TestOpen_FindsTheSeparator(t *testing.T) {
	t.Parallel()
	for _, separator := range []string{",", ";", "\t", "|"} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			body := strings.Join([]string{"a", `"b,;|c"`}, separator) + end + "1" + separator + "2" + end
			header, rows := rowsOf(t, []byte(body))
			if len(header) != 2 || !cmp.Equal(rows, [][]string{{"1", "2"}}) {
				t.Errorf("%q: %q %q", body, header, rows)
			}
			for _, first := range []string{end + " " + end, "sep=" + separator + end, end + "SEP=" + separator + end} {
				if header, rows := rowsOf(t, []byte(first+body)); len(header) != 2 || len(rows) != 1 {
					t.Errorf("%q: %q %q", first+body, header, rows)
				}
			}
		}
	}
}

func TestNext_RowsAreCountedAsASpreadsheetDoesAndFaultsEndNothing(t *testing.T) {
	t.Parallel()
	r, err := sheet.Open([]byte("a,b\n\"two\nlines\",x\n,\nbad\"cell,y\nlast\n"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for {
		cells, row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		seen = append(seen, strings.Join(append(cells, string(rune('0'+row))), "/"))
	}
	if want := []string{"two\nlines/x/2", "4", "last/5"}; !cmp.Equal(seen, want) {
		t.Errorf("rows %q, want %q", seen, want)
	}
}

func TestOpen_RefusesWhatIsNoTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"nothing":             {nil, sheet.ErrEmpty},
		"blank lines":         {[]byte("\n\n,,\n"), sheet.ErrEmpty},
		"binary":              {[]byte("PK\x03\x04\x00\x00\x08\x00abc\x00"), sheet.ErrUnreadable},
		"half a character":    {[]byte("\xff\xfea\x00b"), sheet.ErrUnreadable},
		"one endless cell":    {[]byte(strings.Repeat("a", 1<<20)), sheet.ErrTooWide},
		"one endless line":    {[]byte(strings.Repeat("a,", 1<<20)), sheet.ErrTooWide},
		"a quote never ended": {[]byte("\"a,b\nc,d\n"), sheet.ErrQuotes},
	} {
		if _, err := sheet.Open(c.body); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// No bytes make the reader panic, loop for ever, or give a row beyond its limits.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "\xff\xfea\x00", "\"", "\xfe\xff\xd8\x00", "a\rb", "\x00", "a;b|c\t,\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := sheet.Open(body)
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			cells, _, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if len(cells) > sheet.MaxColumns || n > len(body)+1 {
				t.Fatalf("row %d has %d cells", n, len(cells))
			}
		}
	})
}

// Records are those of encoding/csv, which knows no limits.
func FuzzNext_ReadsWhatTheStandardReads(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "a\n\"b\"\"c\nd\",e\r\n\r\n", "a\n\"b\"c,d\ne\n", "a\nb\"\nc", "a\n\"b",
		"a\n,\n\"\",x", "a\n\"\r\n\"\r",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > sheet.MaxColumns || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00;\t|\ufeff") ||
			!strings.Contains(text, "\n") {
			return // within the limits, and separated by commas
		}
		r, err := sheet.Open([]byte("a,b\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		standard := csv.NewReader(strings.NewReader(text))
		standard.FieldsPerRecord = -1
		for {
			want, wanted := standard.Read()
			for wanted == nil && strings.TrimSpace(strings.Join(want, "")) == "" {
				want, wanted = standard.Read()
			}
			got, _, err := r.Next()
			if errors.Is(err, io.EOF) != errors.Is(wanted, io.EOF) || (err == nil) != (wanted == nil) ||
				err == nil && !cmp.Equal(got, want) {
				t.Fatalf("%q: %q %v, want %q %v", text, got, err, want, wanted)
			}
			if errors.Is(err, io.EOF) {
				return
			}
		}
	})
}

func TestNext_ARowWithoutAnEndCostsNoMemory(t *testing.T) {
	const size = 50 << 20
	for name, row := range map[string]string{
		"a quoted cell": "\"" + strings.Repeat("a", size), "quotes": strings.Repeat(`"`, size|1),
		"quoted lines": "\"" + strings.Repeat("a\n", size/2), "a cell": strings.Repeat("a", size),
		"cells": strings.Repeat("a,", size/2),
	} {
		body := []byte("a,b\n" + row)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := sheet.Open(body)
		if err != nil {
			t.Fatal(err)
		}
		if _, n, err := r.Next(); !errors.Is(err, sheet.ErrTooWide) || n != 2 {
			t.Errorf("%s: row %d, %v", name, n, err)
		}
		if _, _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: what follows is %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d KiB for one row", name, used>>10)
		}
	}
}

// A row that is too long in a table is refused, and the next one is read under its own number.
func TestNext_RowsBehindOneThatIsTooLongAreRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", sheet.MaxCell+1)
	header, rows := rowsOf(t, []byte("a,b\n\""+long+"\nx\",1\n"+strings.Repeat("1,", sheet.MaxColumns)+"\n\"2\n\",3\n"+
		long[1:]+",4\n"))
	wide := []string{sheet.ErrTooWide.Error()}
	want := [][]string{wide, wide, {"2\n", "3"}, {long[1:], "4"}}
	if len(header) != 2 || !cmp.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
}
