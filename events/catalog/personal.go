package catalog

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Types that holdsText distinguishes: the type of personal text, and interfaces of types that write their own JSON.
var (
	textType = reflect.TypeFor[personal.Text]()
	jsonForm = reflect.TypeFor[json.Marshaler]()
	textForm = reflect.TypeFor[encoding.TextMarshaler]()
)

// sealedField is the only member of a sealed text in JSON.
const sealedField = "$sealed"

// checkPersonal refuses an event type with personal fields that the codec could not seal.
func checkPersonal(t reflect.Type, e events.Event) error {
	has, err := holdsText(t, nil)
	if err != nil || !has {
		return err
	}
	if _, ok := e.(events.AboutPerson); !ok {
		return errors.New("has personal text but no PersonalSubject")
	}
	return nil
}

// holdsText reports whether values of a type can have personal text at a place that the codec reaches; it fails for a
// place that the codec cannot reach. seen ends the recursion.
func holdsText(t reflect.Type, seen []reflect.Type) (bool, error) {
	for _, s := range seen {
		if s == t {
			return false, nil
		}
	}
	seen = append(seen, t)
	if t != textType && (t.Implements(jsonForm) || t.Implements(textForm)) {
		return false, nil // writes its own JSON, which the codec does not look into
	}
	switch t.Kind() {
	case reflect.Struct:
		if t == textType {
			return true, nil
		}
		some := false
		for i := range t.NumField() {
			has, err := holdsText(t.Field(i).Type, seen)
			if err != nil {
				return false, err
			}
			if has && !t.Field(i).IsExported() {
				return false, fmt.Errorf("field %s is personal and not exported", t.Field(i).Name)
			}
			some = some || has
		}
		return some, nil
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return holdsText(t.Elem(), seen)
	case reflect.Map:
		has, err := holdsText(t.Elem(), seen)
		if has {
			return false, errors.New("personal text in a map")
		}
		return false, err
	case reflect.Interface:
		return false, errors.New("a field of interface type")
	}
	return false, nil
}

// visitor replaces one personal text. path is the field's path in JSON, such as "details.phones[0]".
type visitor func(path string, text personal.Text) (personal.Text, error)

// places has the types below which personal text can be, each with the fields that lead to it, which are none for a
// type that is no struct. It is made once, because looking through a type takes longer than reading an event of it.
type places map[reflect.Type][]place

// place is an exported field of a struct.
type place struct {
	index int
	name  string // jsonName
}

// learn adds a type and the types below it. The codec reaches all of their personal text.
func (p places) learn(t reflect.Type) {
	if has, _ := holdsText(t, nil); !has {
		return
	}
	if _, known := p[t]; known {
		return
	}
	p[t] = nil
	switch {
	case t == textType:
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			if has, _ := holdsText(field.Type, nil); has && field.IsExported() {
				p[t] = append(p[t], place{i, jsonName(field)})
				p.learn(field.Type)
			}
		}
	default:
		p.learn(t.Elem())
	}
}

// visit applies f to every personal text below v, which must be settable. It copies slices and pointers before it
// changes them, so that the caller's event stays as it is.
func (p places) visit(v reflect.Value, path string, f visitor) error {
	fields, has := p[v.Type()]
	if !has {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		v.Set(own)
		return p.visit(own.Elem(), path, f)
	case reflect.Slice:
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		if !v.IsNil() {
			v.Set(own)
		}
		return p.visitAll(v, path, f)
	case reflect.Array:
		return p.visitAll(v, path, f)
	}
	if v.Type() != textType {
		return p.visitFields(v, fields, path, f)
	}
	text, err := f(path, v.Interface().(personal.Text))
	if err != nil {
		return fmt.Errorf("personal field %s: %w", path, err)
	}
	v.Set(reflect.ValueOf(text))
	return nil
}

// visitAll visits the elements of a slice or array; their index is part of the path.
func (p places) visitAll(v reflect.Value, path string, f visitor) error {
	for i := range v.Len() {
		if err := p.visit(v.Index(i), path+"["+strconv.Itoa(i)+"]", f); err != nil {
			return err
		}
	}
	return nil
}

// visitFields visits fields of a struct.
func (p places) visitFields(v reflect.Value, fields []place, path string, f visitor) error {
	for _, field := range fields {
		below := path
		if field.name != "" {
			below = join(path, field.name)
		}
		if err := p.visit(v.Field(field.index), below, f); err != nil {
			return err
		}
	}
	return nil
}

// jsonName is the field's name in JSON; "" for an embedded struct, whose fields JSON lifts into the outer object.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" && !f.Anonymous {
		name = f.Name
	}
	return name
}

// join adds a name to a path; the first name has no dot before it.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sealedPaths maps each sealed text of a stored payload to its place. An upcaster may move a text, but the seal is
// bound to the place where it was written.
func sealedPaths(data json.RawMessage) (map[string]string, error) {
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	found := make(map[string]string)
	collectSealed(tree, "", found)
	return found, nil
}

// collectSealed walks the JSON tree and adds each sealed form with its path to found.
func collectSealed(node any, path string, found map[string]string) {
	switch node := node.(type) {
	case []any:
		for i, below := range node {
			collectSealed(below, path+"["+strconv.Itoa(i)+"]", found)
		}
	case map[string]any:
		if sealed, ok := node[sealedField].(string); ok && len(node) == 1 {
			found[sealed] = path
			return
		}
		for name, below := range node {
			collectSealed(below, join(path, name), found)
		}
	}
}
