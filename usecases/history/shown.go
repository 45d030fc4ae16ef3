package historycases

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Hidden stands in the place of a value that is not shown, and says why. In JSON it is {"hidden": "secret"}.
type Hidden string

// Why a value is hidden.
const (
	Forgotten Hidden = "forgotten" // the person was forgotten, and nobody can read it again
	Secret    Hidden = "secret"    // it is, or leads to, a secret
	OfOthers  Hidden = "other"     // it is another organization's
)

// MarshalJSON writes the object.
func (h Hidden) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"hidden": string(h)})
}

// Object is a struct or a map in the form that people and programs read. Members keep the order of the fields.
type Object []Member

// Member is one value of an object.
type Member struct {
	Name  string
	Value any // nil, bool, string, json.Number, Hidden, Object, or a []any of these
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// view decides what is hidden.
type view struct {
	everything bool // for the platform and the operator: also what organizations do not show each other; never secrets
}

// show gives a value of an event or a state. Personal texts are plain, money has its amount and currency, instants are
// RFC 3339 in UTC, and what is empty is nil.
func (v view) show(x reflect.Value) any {
	x = plainValue(x)
	if !x.IsValid() {
		return nil
	}
	if leaf, is := showLeaf(x); is {
		return leaf
	}
	switch x.Kind() {
	case reflect.Struct:
		out := Object{}
		for _, f := range shapeOf(x.Type()) {
			out = append(out, Member{f.name, v.field(f, x)})
		}
		return out
	case reflect.Map:
		out := Object{}
		for _, k := range sortedKeys(x) {
			value := v.show(x.MapIndex(k))
			if secretKey(k) && value != nil {
				value = Secret
			}
			out = append(out, Member{keyText(k), value})
		}
		return out
	case reflect.Slice, reflect.Array:
		out := make([]any, x.Len())
		for i := range out {
			out[i] = v.show(x.Index(i))
		}
		return out
	}
	return fmt.Sprint(x.Kind()) // no event and no state has such a value: a test looks at all of them
}

// hides tells why a field is hidden in this view; "" when it is shown.
func (v view) hides(f shownField) Hidden {
	if f.hides == OfOthers && v.everything {
		return ""
	}
	return f.hides
}

// field shows one field of a struct. One that is hidden is told when it has a value.
func (v view) field(f shownField, x reflect.Value) any {
	of := x.FieldByIndex(f.index)
	if why := v.hides(f); why != "" {
		if of.IsZero() {
			return nil
		}
		return why
	}
	return v.show(of)
}

// plainValue follows pointers and interfaces; the invalid value for nil.
func plainValue(x reflect.Value) reflect.Value {
	for x.IsValid() && (x.Kind() == reflect.Pointer || x.Kind() == reflect.Interface) {
		x = x.Elem()
	}
	return x
}

// isLeaf reports whether values of a type are shown whole.
func isLeaf(t reflect.Type) bool {
	switch t {
	case textType, amountType, timeType, bytesType:
		return true
	}
	if secretTypes[t] || t.Implements(textForm) {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Interface:
		return false
	}
	return true
}

// showLeaf shows a value that has no parts.
func showLeaf(x reflect.Value) (shown any, is bool) {
	t := x.Type()
	if !isLeaf(t) {
		return nil, false
	}
	if word, has := wordOf(x); has {
		return word, true
	}
	switch {
	case secretTypes[t]:
		if x.IsZero() {
			return nil, true
		}
		return Secret, true
	case t.Kind() == reflect.String && !t.Implements(textForm):
		return x.String(), true
	case t.Kind() == reflect.Bool:
		return x.Bool(), true
	case x.CanInt() && t != durationType && !t.Implements(textForm):
		return jsonInt(x.Int()), true
	case x.CanUint() && !t.Implements(textForm):
		return jsonInt(x.Uint()), true
	case x.CanFloat():
		return json.Number(fmt.Sprint(x.Float())), true
	}
	return showTyped(x.Interface()), true
}

// showTyped shows a value of a type with a form of its own.
func showTyped(x any) any {
	switch x := x.(type) {
	case personal.Text:
		if x.Erased() {
			return Forgotten
		}
		return x.Reveal()
	case money.Amount:
		if x == (money.Amount{}) {
			return nil
		}
		return Object{{"amount", x.Number()}, {"currency", string(x.Currency)}}
	case time.Time:
		if x.IsZero() {
			return nil
		}
		return x.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return x.String()
	case []byte:
		return Object{{"bytes", jsonInt(len(x))}}
	case encoding.TextMarshaler:
		if text, err := x.MarshalText(); err == nil && len(text) > 0 {
			return string(text)
		}
	}
	return nil
}

// keyText is a key of a map. Keys of several fields are joined by spaces.
func keyText(k reflect.Value) string {
	if k.CanInterface() && k.Type().Implements(textForm) {
		if form, is := k.Interface().(encoding.TextMarshaler); is {
			if text, err := form.MarshalText(); err == nil {
				return string(text)
			}
		}
	}
	switch {
	case k.Kind() == reflect.Struct:
		var parts []string
		for i := range k.NumField() {
			if part := keyText(k.Field(i)); part != "" {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, " ")
	case k.CanInt():
		return fmt.Sprint(k.Int())
	}
	return k.String()
}

// secretKey reports whether a value may be a secret by its key, as a setting of a router could be.
func secretKey(k reflect.Value) bool {
	return k.Kind() == reflect.String && suspicious.MatchString(k.String())
}

// sortedKeys gives the keys of a map in the order of their texts.
func sortedKeys(x reflect.Value) []reflect.Value {
	keys := x.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(keyText(a), keyText(b)) })
	return keys
}

// jsonInt keeps all digits, which a floating point number would not.
func jsonInt[N ~int | ~int64 | ~uint64](n N) json.Number { return json.Number(fmt.Sprint(n)) }
