package sheet

import (
	"bytes"
	"io"
)

// records splits a text into records as encoding/csv does (RFC 4180), but for one thing: of a record that breaks the
// limits of a table it keeps nothing. So a file that is one cell without an end costs no memory beyond its own.
type records struct {
	text      []byte // what is not read yet
	separator byte
	bytes     []byte // of the record's cells, one behind the other; used again for the next one
	ends      []int  // of the cells in bytes
	wide      bool   // the record breaks the limits
}

// next gives the cells of the next record; lines without a character are none. Fails: io.EOF, and for this record alone
// ErrQuotes, ErrTooWide.
func (r *records) next() ([]string, error) {
	line, more := r.line()
	for more && len(line) == 0 {
		line, more = r.line()
	}
	if !more {
		return nil, io.EOF
	}
	r.bytes, r.ends, r.wide = r.bytes[:0], r.ends[:0], false
	ended := false
	for !ended {
		var ok bool
		if line, ended, ok = r.cell(line); !ok && !r.wide {
			return nil, ErrQuotes
		}
		r.close()
		if r.wide && ended {
			return nil, ErrTooWide
		}
	}
	return r.cells(), nil
}

// line takes the next line off, without its end. more is false at the end of the text.
func (r *records) line() (line []byte, more bool) {
	if len(r.text) == 0 {
		return nil, false
	}
	line, r.text, _ = bytes.Cut(r.text, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), true
}

// cell reads the cell at the beginning of a line, and on into further lines when it is quoted. It gives what follows
// the cell and its separator; ended is that the record has no more cells. ok is false, and the record ended, for a
// quote that is not closed or stands inside a cell.
func (r *records) cell(line []byte) (rest []byte, ended, ok bool) {
	quoted, is := bytes.CutPrefix(line, []byte{'"'})
	if is {
		return r.quoted(quoted)
	}
	text, rest, more := bytes.Cut(line, []byte{r.separator})
	r.keep(text)
	ok = bytes.IndexByte(text, '"') < 0
	return rest, !more || !ok, ok
}

// quoted reads a cell behind its opening quote; a quote in it is written twice.
func (r *records) quoted(line []byte) (rest []byte, ended, ok bool) {
	for {
		text, after, closed := bytes.Cut(line, []byte{'"'})
		r.keep(text)
		if !closed {
			var more bool
			if line, more = r.line(); !more {
				return nil, true, false
			}
			r.keep([]byte{'\n'})
			continue
		}
		switch {
		case len(after) == 0:
			return nil, true, true
		case after[0] == '"':
			r.keep([]byte{'"'})
			line = after[1:]
		default:
			return after[1:], after[0] != r.separator, after[0] == r.separator
		}
	}
}

// keep adds text to the cell that is read, as long as the record keeps the limits.
func (r *records) keep(text []byte) {
	began := 0
	if len(r.ends) > 0 {
		began = r.ends[len(r.ends)-1]
	}
	r.wide = r.wide || len(r.ends) == MaxColumns || len(r.bytes)-began+len(text) > MaxCell
	if !r.wide {
		r.bytes = append(r.bytes, text...)
	}
}

// close ends the cell that is read.
func (r *records) close() {
	if !r.wide {
		r.ends = append(r.ends, len(r.bytes))
	}
}

// cells are those of the record, which have their bytes together.
func (r *records) cells() []string {
	all, from := string(r.bytes), 0
	list := make([]string, len(r.ends))
	for i, end := range r.ends {
		list[i], from = all[from:end], end
	}
	return list
}
