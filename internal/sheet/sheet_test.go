package sheet_test

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

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
