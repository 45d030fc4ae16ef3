package httpapi

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Decode reads the body as JSON into a request struct. It fails with Malformed when the body cannot be read or a
// required field is missing, with Invalid when a field is unknown, given twice or has a wrong value. All faults of one
// kind are reported together. A PUT may send back what the GET of its path answers: fields of the answer that the
// request does not have are read-only and ignored (docs/rules/http.md#sent-back).
func Decode[T any](c *Call) (T, error) {
	var into T
	err := decode(c.body, &into, c.route.readOnly...)
	return into, err
}

// decode reads one JSON object into the struct that into points to, without its fields that are read-only. An empty
// body counts as {}, so that its required fields are named.
func decode(body []byte, into any, readOnly ...string) error {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}") // so that the required fields are named
	}
	if !utf8.Valid(body) || !json.Valid(body) {
		return errMalformedBody()
	}
	whole := json.RawMessage(bytes.TrimSpace(body)) // a part of the body: large files are not copied
	if whole[0] != '{' {
		return errMalformedBody()
	}
	r := reading{readOnly: readOnly}
	r.object(whole, reflect.ValueOf(into).Elem(), "")
	if len(r.missing) > 0 {
		return &failure.Error{Kind: failure.Malformed, Code: "missing_field", Faults: r.missing}
	}
	return r.invalid.Err()
}

// errMalformedBody refuses a body that is not JSON, not an object, or has something behind the object.
func errMalformedBody() error {
	return failure.NewMalformed("malformed_body", "The body must be one valid JSON object.")
}

// reading collects the faults of one body, up to maxFaults of each kind: otherwise a body full of faults would make an
// answer larger than itself.
type reading struct {
	missing, invalid failure.Faults
	readOnly         []string // fields of the outermost object that are ignored
}

// maxFaults bounds the faults in one answer, maxItems the length of a list whose field has no tag items: an empty item
// takes two bytes in the body and many in memory.
const (
	maxFaults = 50
	maxItems  = 10_000
)

// fault notes an invalid value.
func (r *reading) fault(path, text string, args ...any) {
	if len(r.invalid) < maxFaults {
		r.invalid.Add(path, text, args...)
	}
}

// lacks notes a missing field.
func (r *reading) lacks(path string) {
	if len(r.missing) < maxFaults {
		r.missing.Add(path, "is required")
	}
}

// field describes a field of a request or answer struct, as its tags json, enum, items and doc say.
type field struct {
	name     string
	index    []int
	required bool
	enum     []string // nil = any
	doc      string
	null     bool // the tag null: a map that may not be there
	items    int  // of a list at most
}

// fieldCache keeps the fields of each struct type, reflect.Type -> []field, since reading tags is slow. Safe for
// concurrent use.
var fieldCache sync.Map

// fieldsOf gives the JSON fields of a struct, those of embedded structs included. Callers must not change the list.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous && name == "" || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out := field{name: name, index: f.Index, doc: f.Tag.Get("doc"), items: maxItems,
			null:     f.Tag.Get("null") == "true",
			required: !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero")}
		if words := f.Tag.Get("enum"); words != "" {
			out.enum = strings.Split(words, ",")
		}
		if most, err := strconv.Atoi(f.Tag.Get("items")); err == nil {
			out.items = most
		}
		fields = append(fields, out)
	}
	fieldCache.Store(t, fields)
	return fields
}

// object reads a JSON object into a struct, field by field. null counts as absent.
func (r *reading) object(raw json.RawMessage, into reflect.Value, path string) {
	values, order, twice := members(raw)
	for _, name := range twice {
		r.fault(path+name, "is given twice")
	}
	fields := fieldsOf(into.Type())
	for _, f := range fields {
		value, given := values[f.name]
		if given = given && string(value) != "null"; given {
			r.value(value, into.FieldByIndex(f.index), path+f.name, f)
		} else if f.required {
			r.lacks(path + f.name)
		}
	}
	for _, name := range order {
		if path == "" && slices.Contains(r.readOnly, name) {
			continue
		}
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			r.fault(path+shown(name), "is not a known field")
		}
	}
}

// value reads one JSON value that is not null.
func (r *reading) value(raw json.RawMessage, into reflect.Value, path string, f field) {
	if into.Kind() == reflect.Pointer && !custom(into.Type()) {
		into.Set(reflect.New(into.Type().Elem()))
		r.value(raw, into.Elem(), path, f)
		return
	}
	switch {
	case isNumber(raw) && len(raw) > money.MaxDigits:
		r.fault(path, "must be a number of at most %d characters", money.MaxDigits)
		return
	case custom(into.Type()):
	case into.Kind() == reflect.Struct:
		if raw[0] != '{' {
			r.fault(path, "must be an object")
			return
		}
		r.object(raw, into, path+".")
		return
	case into.Kind() == reflect.Slice && into.Type().Elem().Kind() != reflect.Uint8:
		r.list(raw, into, path, f)
		return
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		r.fault(path, "%s", wrongValue(err, into.Type()))
		return
	}
	if hasNUL(raw) {
		r.fault(path, "must not have NUL characters")
	}
	if into.Type() != reflect.TypeFor[secrets.Text]() && turnsDirection(raw) {
		r.fault(path, "must not have characters that change the direction of writing")
	}
	if z, ok := into.Interface().(interface{ IsZero() bool }); ok && raw[0] == '"' && z.IsZero() && f.required {
		r.fault(path, "must not be empty")
	}
	if into.Kind() == reflect.String && f.enum != nil && !slices.Contains(f.enum, into.String()) {
		r.fault(path, "must be one of %s", strings.Join(f.enum, ", "))
	}
}

// isNumber reports whether a valid JSON value is a number.
func isNumber(raw json.RawMessage) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }

// list reads a JSON array of at most as many items as its field may have, none of which may be null.
func (r *reading) list(raw json.RawMessage, into reflect.Value, path string, f field) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		r.fault(path, "must be a list")
		return
	}
	if len(items) > f.items {
		r.fault(path, "has more than %d items", f.items)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	f.required = true
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if string(item) == "null" {
			r.fault(at, "must not be null")
			continue
		}
		r.value(item, into.Index(i), at, f)
	}
}

// members splits a valid JSON object into its values, which are parts of it and no copies. order has each name once,
// twice those that come again; of these the last value counts.
func members(raw json.RawMessage) (values map[string]json.RawMessage, order, twice []string) {
	values = map[string]json.RawMessage{}
	rest := next(raw[1:])
	for rest[0] == '"' {
		end := valueEnd(rest)
		var name string
		_ = json.Unmarshal(rest[:end], &name) // the whole body was found valid before
		rest = next(next(rest[end:])[1:])     // behind the colon
		end = valueEnd(rest)
		if _, known := values[name]; known {
			twice = append(twice, shown(name))
		} else {
			order = append(order, name)
		}
		values[name] = rest[:end:end]
		if rest = next(rest[end:]); rest[0] == ',' {
			rest = next(rest[1:])
		}
	}
	return values, order, twice
}

// next leaves out the spaces at the beginning of a part of a valid JSON text.
func next(text json.RawMessage) json.RawMessage { return bytes.TrimLeft(text, " \t\r\n") }

// valueEnd is the length of the value at the beginning of a part of a valid JSON text.
func valueEnd(text json.RawMessage) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			if n := bytes.IndexAny(text[i:], ",]} \t\r\n"); n >= 0 {
				return i + n
			}
			return len(text)
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// stringEnd is the length of the string at the beginning of a part of a valid JSON text.
func stringEnd(text json.RawMessage) int {
	for i := 1; ; i++ {
		i += bytes.IndexAny(text[i:], `"\\`)
		if text[i] == '"' {
			return i + 1
		}
		i++ // behind the escape comes no end
	}
}

// shown quotes a name that came from outside, and cuts it to 64 bytes, before a message repeats it.
func shown(name string) string {
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "…"
	}
	return strconv.Quote(name)
}

// The interfaces of types that read their own JSON value.
var (
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// custom reports whether the type reads its own JSON value.
func custom(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonReader) || p.Implements(textReader)
}

// wrongValue says what the value of a field of the type should have been.
func wrongValue(err error, t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "must be an instant in RFC 3339, such as 2026-11-20T08:00:00Z"
	}
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return "is not valid: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	switch t.Kind() {
	case reflect.String:
		return "must be a text"
	case reflect.Bool:
		return "must be true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "must be a whole number in range"
	case reflect.Float32, reflect.Float64:
		return "must be a number"
	case reflect.Map:
		return "must be an object"
	}
	return "has a value of the wrong kind"
}

// hasNUL reports whether a JSON value has a text with the character U+0000, which PostgreSQL cannot store.
func hasNUL(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte(`\u0000`)) && strings.ContainsRune(unescaped(raw), 0)
}

// turnsDirection reports whether a JSON value has a text with a character that embeds, overrides or isolates a
// direction of writing: it would turn round what stands beside the text (docs/rules/http.md#texts). Letters that are
// written from right to left need none.
func turnsDirection(raw json.RawMessage) bool {
	if !bytes.Contains(raw, []byte(`\u20`)) && !bytes.Contains(raw, []byte("\xe2\x80")) &&
		!bytes.Contains(raw, []byte("\xe2\x81")) { // as those characters begin
		return false
	}
	return strings.ContainsFunc(unescaped(raw), func(r rune) bool {
		return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
}

// unescaped joins all texts of a JSON value, without JSON's escapes.
func unescaped(raw json.RawMessage) string {
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := dec.Token()
		if err != nil {
			return b.String()
		}
		if text, ok := token.(string); ok {
			b.WriteString(text)
		}
	}
}
