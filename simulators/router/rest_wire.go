package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
)

// body reads the arguments of a request; false when the refusal is already sent.
func (x *exchange) body(req *http.Request) (call, bool) {
	c := call{args: Item{}}
	text, err := io.ReadAll(http.MaxBytesReader(x.w, req.Body, maxRequest))
	if err != nil {
		x.fail(http.StatusBadRequest, "Bad Request")
		return c, false
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return c, true
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		x.fail(http.StatusBadRequest, "Bad Request")
		return c, false
	}
	for name, value := range raw {
		var list []string
		switch isList := json.Unmarshal(value, &list) == nil; {
		case name == ".query" && isList:
			c.query = list
		case name == ".proplist" && isList:
			c.proplist = list
		case name == ".proplist":
			c.proplist = splitList(plain(value))
		default:
			c.args[name] = plain(value)
		}
	}
	return c, true
}

// plain gives a JSON value as text; strings lose their quotes.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// object answers with the first row, or {} without one.
func (x *exchange) object(status int, rows []Item) {
	var out bytes.Buffer
	if len(rows) == 0 {
		out.WriteString("{}")
	} else {
		writeItem(&out, rows[0])
	}
	x.answer(status, out.Bytes())
}

// list answers with all rows; [] without any.
func (x *exchange) list(rows []Item) {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, item := range rows {
		if i > 0 {
			out.WriteByte(',')
		}
		writeItem(&out, item)
	}
	out.WriteByte(']')
	x.answer(http.StatusOK, out.Bytes())
}

// answer sends a JSON body and ignores write errors.
func (x *exchange) answer(status int, body []byte) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
}

// writeItem writes an item as a router does: control bytes, and bytes that are not UTF-8, are not escaped.
func writeItem(out *bytes.Buffer, item Item) {
	out.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(item)) {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, `"%s":"`, name)
		for _, c := range []byte(item[name]) {
			switch c {
			case '"', '\\':
				out.WriteByte('\\')
				out.WriteByte(c)
			case '\n':
				out.WriteString(`\n`)
			case '\r':
				out.WriteString(`\r`)
			default:
				out.WriteByte(c)
			}
		}
		out.WriteByte('"')
	}
	out.WriteByte('}')
}
