package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// schemas collects the schemas of named structs while a document is made.
type schemas struct {
	named  object
	types  map[string]reflect.Type // the type that has a name
	closed bool                    // set for requests, which take no other fields; answers may get more
	clash  error                   // set when two structs want one name
}

// known has the schemas of types that define their own JSON form.
var known = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[calendar.Date]():   {"type": "string", "format": "date"},
	reflect.TypeFor[json.Number]():     {"type": "number"},
	reflect.TypeFor[Amount]():          {"type": "number"},
	reflect.TypeFor[json.RawMessage](): {},
}

// Enumerated is a string type of answers whose texts another package lists, so that a tag would be a second list.
type Enumerated interface{ Texts() []string }

// of is the schema of a type: a reference when it is a named struct.
func (s *schemas) of(t reflect.Type) object {
	if k, ok := known[t]; ok {
		return k
	}
	if e, ok := reflect.Zero(t).Interface().(Enumerated); ok && t.Kind() == reflect.String {
		return object{"type": "string", "enum": allowed(e.Texts())}
	}
	if t.Kind() == reflect.Array && t.Len() == 16 {
		return object{"type": "string", "format": "uuid"} // an id that may be missing is a pointer
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.of(t.Elem()))
	case reflect.Struct:
		return s.structure(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Interface:
		return object{}
	}
	return object{"type": "integer"}
}

// structure is the schema of a struct, kept under its name. No second struct can have that name: which of them had it
// would depend on the order of the routes, and clients would be built from the wrong one.
func (s *schemas) structure(t reflect.Type) object {
	name := t.Name()
	if name == "" || strings.Contains(name, "[") {
		return s.properties(t)
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if other, taken := s.types[name]; taken && other != t && s.clash == nil {
		s.clash = fmt.Errorf("%s and %s would both be the schema %s: rename one after what only it is",
			path.Join(other.PkgPath(), other.Name()), path.Join(t.PkgPath(), t.Name()), name)
	}
	if s.types[name] == nil {
		s.types[name] = t // before the fields: they may refer to it
		s.named[name] = s.properties(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// nullable is the schema of what may also be null. An enum rules out what it does not list, so null stands in it.
func nullable(schema object) object {
	kind, single := schema["type"].(string)
	if !single {
		return object{"anyOf": []object{schema, {"type": "null"}}}
	}
	out := maps.Clone(schema)
	out["type"] = []string{kind, "null"}
	if texts, limited := schema["enum"].([]any); limited {
		out["enum"] = append(slices.Clip(texts), nil)
	}
	return out
}

// allowed lists the texts of a field.
func allowed(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// properties describes the fields of a struct.
func (s *schemas) properties(t reflect.Type) object {
	props, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		schema := maps.Clone(s.of(t.FieldByIndex(f.index).Type))
		if f.null {
			schema = nullable(schema)
		}
		if f.enum != nil {
			schema["enum"] = allowed(f.enum)
			if t.FieldByIndex(f.index).Type.Kind() == reflect.Pointer {
				schema["enum"] = append(allowed(f.enum), nil)
			}
		}
		if f.doc != "" {
			schema["description"] = f.doc
		}
		props[f.name] = schema
		if f.required {
			required = append(required, f.name)
		}
	}
	out := object{"type": "object", "properties": props, "required": required}
	if s.closed {
		out["additionalProperties"] = false
	}
	return out
}
